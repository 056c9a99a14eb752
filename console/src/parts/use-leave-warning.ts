import { useEffect } from 'preact/hooks';

/** Lets the browser ask before it leaves or reloads the page while this is on, and keeps Back from changing the screen. */
export function useLeaveWarning(isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    const stay = (event: NavigateEvent) => {
      if (event.navigationType === 'traverse' && event.destination.sameDocument) event.preventDefault();
    };
    // Older browsers do not have it.
    const navigation = (globalThis as { navigation?: Navigation }).navigation;
    addEventListener('beforeunload', ask);
    navigation?.addEventListener('navigate', stay);
    return () => {
      removeEventListener('beforeunload', ask);
      navigation?.removeEventListener('navigate', stay);
    };
  }, [isOn]);
}
