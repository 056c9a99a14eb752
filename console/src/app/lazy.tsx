import type { FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Loading } from '../parts/loading';
import { Problem } from '../parts/problem';
import { TEXT } from '../text/en';

/** A screen whose script is loaded when it is first shown, so that the first screen has less to load. */
export function lazy(load: () => Promise<FunctionComponent>): FunctionComponent {
  let Screen: FunctionComponent | undefined;
  return function Lazy() {
    const [isLoaded, setLoaded] = useState(Screen !== undefined);
    const [error, setError] = useState<unknown>(null);
    useEffect(() => {
      if (isLoaded) return;
      const show = (loaded: FunctionComponent) => {
        Screen = loaded;
        setLoaded(true);
      };
      load().then(show, setError);
    }, []);
    useEffect(() => {
      // As after a navigation to a screen that was there; a page that was just opened has no focus to move.
      const hasFocus = document.activeElement !== document.body;
      if (isLoaded && hasFocus) document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
    }, [isLoaded]);
    if (error !== null) return <Problem error={new Error(TEXT.notLoaded)} onRetry={() => location.reload()} />;
    return Screen && isLoaded ? <Screen /> : <Loading what={TEXT.loading} />;
  };
}

type Rare = typeof import('../screens/rare');

export const rare = (name: keyof Rare): FunctionComponent => lazy(async () => (await import('../screens/rare'))[name]);
