import { useQuery } from '@tanstack/preact-query';
import type { FunctionComponent } from 'preact';
import { Result } from '../parts/result';
import { TEXT } from '../text/en';

/** A screen whose script is loaded when it is first shown, so that the first screen has less to load. */
export function lazy(name: string, load: () => Promise<FunctionComponent>): FunctionComponent {
  return function Lazy() {
    const screen = useQuery({
      queryKey: ['screen', name],
      queryFn: async () => ({
        Screen: await load().catch(() => {
          throw new Error(TEXT.notLoaded);
        }),
      }),
      staleTime: Infinity,
      gcTime: Infinity,
    });
    return (
      <Result of={screen} what={TEXT.loading}>
        {({ Screen }) => <Screen />}
      </Result>
    );
  };
}

type Rare = typeof import('../screens/rare');

export const rare = (name: keyof Rare): FunctionComponent =>
  lazy(name, async () => (await import('../screens/rare'))[name]);
