import { Component, type ComponentChildren } from 'preact';
import { Problem } from '../parts/problem';

/** Keeps an error of one panel from taking the rest of the page with it. */
export class ErrorBoundary extends Component<{ children: ComponentChildren }, { error: unknown }> {
  override state = { error: null as unknown };

  override componentDidCatch(error: unknown): void {
    this.setState({ error });
  }

  override render() {
    const { error } = this.state;
    return error === null ? (
      this.props.children
    ) : (
      <Problem error={error} onRetry={() => this.setState({ error: null })} />
    );
  }
}
