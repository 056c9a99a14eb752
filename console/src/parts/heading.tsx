import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { consoleName } from '../api/page-settings';

/** The one heading of a screen, which is the title of the tab too. It takes the focus after a navigation. */
export function Heading({ title, children }: { title: string; children?: ComponentChildren }) {
  useEffect(() => {
    document.title = `${title} · ${consoleName}`;
  }, [title]);
  return (
    <div class="heading">
      <h1 tabIndex={-1}>{title}</h1>
      {children}
    </div>
  );
}
