/** Stops the PostgreSQL of the test run and removes its folder. */
export default async function globalTeardown(): Promise<void> {
  await (globalThis as { undoTestSetup?: () => Promise<void> }).undoTestSetup?.();
}
