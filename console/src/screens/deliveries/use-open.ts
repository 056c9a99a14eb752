import { useState } from 'preact/hooks';
import { useSearchParams } from 'wouter-preact';
import { useKeys } from '../../parts/shortcuts';

/** From this width on, there is room for an attempt beside the list; the style sheet says the same. */
const IS_WIDE = matchMedia('(min-width: 56.26rem)');

const linkOf = (id: string) => document.querySelector<HTMLElement>(`[data-row="${CSS.escape(id)}"]`);

/** The attempt that is shown beside the list, which stands in the address; j and k go through the list, Escape closes it. */
export function useOpen() {
  const [search, setSearch] = useSearchParams();
  const [takesFocus, setTakesFocus] = useState(false);
  const open = search.get('open');
  const show = (id: string | null, isByKey = false) => {
    setTakesFocus(!isByKey);
    setSearch(
      (before) => {
        if (id === null) before.delete('open');
        else before.set('open', id);
        return before;
      },
      { replace: true },
    );
  };
  const close = () => {
    if (open === null) return;
    show(null);
    linkOf(open)?.focus();
  };
  const move = (by: number) => {
    const links = [...document.querySelectorAll<HTMLElement>('[data-row]')];
    const from = open ?? (document.activeElement as HTMLElement | null)?.dataset.row;
    const next = links[links.findIndex((link) => link.dataset.row === from) + by] ?? (from ? undefined : links[0]);
    next?.focus();
    if (open !== null && next?.dataset.row) show(next.dataset.row, true);
  };
  useKeys({ j: () => move(1), k: () => move(-1), Escape: close });
  /** A plain click on a row opens it beside the list; all others do what a link does. */
  const onClickCapture = (event: MouseEvent) => {
    const link = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-row]') : null;
    if (!link?.dataset.row || !IS_WIDE.matches || event.ctrlKey || event.metaKey || event.shiftKey || event.button > 0)
      return;
    event.preventDefault();
    event.stopPropagation();
    show(link.dataset.row);
  };
  return { open, takesFocus, show, close, onClickCapture };
}
