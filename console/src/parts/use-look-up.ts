import { useMutation } from '@tanstack/preact-query';
import { useLocation } from 'wouter-preact';
import { useAbout } from '../api/queries';
import { useSigned } from '../api/signed';
import { TEXT } from '../text/en';
import { placeOf } from './find-id';

/** Opens the screen that shows an id or a subject, or returns the reason why there is none. */
export function useLookUp() {
  const { api } = useSigned();
  const [, go] = useLocation();
  const about = useAbout();
  const { mutate, isPending, data, error, reset } = useMutation({
    mutationFn: (text: string) => placeOf(api, text),
    onSuccess: (place) => place !== null && go(place),
  });
  const said = error ? error.message : data === null ? TEXT.lookUp.nothing(about?.retentionDays) : null;
  return { lookUp: mutate, isPending, said, forget: reset };
}
