import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FrameLocator, Page } from 'playwright-core';

export interface HostPages {
  /** Another site than the service, which is at 127.0.0.1. */
  origin: string;
  stop(): Promise<void>;
}

/** What a page of a host application got from its frame. */
export interface Told {
  origin: string;
  data: { type?: string; height?: number };
}

const PAGE = `<!doctype html><title>Host</title>
<iframe title="Webhooks" width="1100" height="650" style="border:0"></iframe>
<script>
  window.told = [];
  addEventListener('message', ({ origin, data }) => told.push({ origin, data }));
</script>`;

/** A host application: each of its paths has a frame that shows nothing yet, and keeps what the frame tells. */
export async function startHostPages(): Promise<HostPages> {
  const server = createServer((_, answer) => answer.writeHead(200, { 'content-type': 'text/html' }).end(PAGE)).listen(
    0,
  );
  await once(server, 'listening');
  return {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** Lets the frame show this address, as a host does that has asked for a link. */
export async function show(page: Page, url: string): Promise<FrameLocator> {
  await page.locator('iframe').evaluate((frame: { src: string }, src) => void (frame.src = src), url);
  return page.frameLocator('iframe');
}

export const toldTo = (page: Page): Promise<Told[]> =>
  page.evaluate(() => (globalThis as unknown as { told: Told[] }).told);
