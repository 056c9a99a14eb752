import { useEffect, useState } from 'preact/hooks';

/** A value that many parts of the page show. */
export class Shared<T> {
  private readonly listeners = new Set<() => void>();

  constructor(public value: T) {}

  set(next: T): void {
    this.value = next;
    this.listeners.forEach((listener) => listener());
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }
}

/** The value, in a component that is rendered again when it changes. */
export function useShared<T>(shared: Shared<T>): T {
  const [value, setValue] = useState(shared.value);
  useEffect(() => shared.subscribe(() => setValue(shared.value)), [shared]);
  return value;
}
