import { Plus, X } from 'lucide-preact';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Icon } from './icon';

/** Rows of inputs that one can add and remove. */
export function Rows<T>({
  rows,
  onChange,
  blank,
  add,
  remove,
  children,
}: {
  rows: readonly T[];
  onChange: (next: readonly T[]) => void;
  /** A new row. */
  blank: T;
  /** Text of the button below the rows. */
  add: string;
  /** Name of the button of a row, by its number. */
  remove: (number: number) => string;
  children: (row: T, change: (next: Partial<T>) => void, index: number) => ComponentChildren;
}) {
  const list = useRef<HTMLDivElement>(null);
  const focused = useRef<'last' | 'add' | null>(null);
  useEffect(() => {
    const button = list.current?.querySelector<HTMLElement>(':scope > button');
    const last = list.current?.querySelector<HTMLElement>('.input-row:last-of-type :is(input, select)');
    if (focused.current) (focused.current === 'last' ? last : button)?.focus();
    focused.current = null;
  }, [rows.length]);
  const change = (index: number) => (next: Partial<T>) =>
    onChange(rows.map((row, i) => (i === index ? { ...row, ...next } : row)));
  return (
    <div class="rows" ref={list}>
      {rows.map((row, index) => (
        <div key={index} class="input-row">
          {children(row, change(index), index)}
          <button
            type="button"
            class="button quiet remove"
            aria-label={remove(index + 1)}
            onClick={() => {
              focused.current = 'add';
              onChange(rows.filter((_, i) => i !== index));
            }}
          >
            <Icon of={X} />
          </button>
        </div>
      ))}
      <button
        type="button"
        class="button small"
        onClick={() => {
          focused.current = 'last';
          onChange([...rows, blank]);
        }}
      >
        <Icon of={Plus} size={14} />
        {add}
      </button>
    </div>
  );
}
