import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { programPath, skip } from '../../support/programs';
import { PATIENCE_MS } from '../../support/wait-for';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** A name that leads to this machine, but that a browser does not take for it: without https it is no secure context. */
export const INTRANET = 'intranet.example';

/** A page, and what it must never do. */
export interface Watched {
  page: Page;
  context: BrowserContext;
  /** Errors and reports of the policy in the page's console, uncaught exceptions, and requests to other origins. */
  errors: string[];
}

/** Tests in `CHROMIUM_PATH`, or in the Chromium of this machine. Without one they are skipped. */
export const describeInBrowser = (title: string, tests: (browser: BrowserInUse) => void): void => {
  const path = process.env.CHROMIUM_PATH ?? programPath(...NAMES);
  if (!path) return skip(title, 'chromium', () => it('is skipped', () => undefined));
  describe(title, () => {
    const inUse = new BrowserInUse();
    beforeAll(() => inUse.start(path));
    afterAll(() => inUse.stop());
    beforeEach(() => inUse.keepOpened());
    afterEach(() => inUse.closeOthers());
    tests(inUse);
  });
};

const ARGUMENTS = ['--no-sandbox', '--disable-gpu', `--host-resolver-rules=MAP ${INTRANET} 127.0.0.1`];

/** What a page is signed in to. */
type Signed = { url: string; token: string };

export class BrowserInUse {
  private browser?: Browser;
  private executablePath = '';
  private readonly opened: Watched[] = [];
  private readonly profiles: BrowserContext[] = [];
  /** How many of the opened pages stay open until all tests are done. */
  private kept = 0;

  async start(executablePath: string): Promise<void> {
    this.executablePath = executablePath;
    this.browser = await chromium.launch({ executablePath, args: ARGUMENTS });
  }

  /** Whatever page was opened, none has done what it must not. */
  async stop(): Promise<void> {
    await Promise.all(this.profiles.map((each) => each.close()));
    await this.browser?.close();
    expect(this.opened.flatMap(({ errors }) => errors)).toEqual([]);
  }

  /** What is open already, is open for all tests. */
  keepOpened(): void {
    this.kept = this.opened.length;
  }

  /** Closes the pages of a test: a page that stays open goes on polling and drawing beside the next ones. */
  async closeOthers(): Promise<void> {
    await Promise.all(this.opened.slice(this.kept).map(({ context }) => context.close()));
  }

  /** A page of a browser that nobody has used, which is watched; its frames may be of other origins. */
  async open(url: string, options: BrowserContextOptions = {}, framed: string[] = []): Promise<Watched> {
    if (!this.browser) throw new Error('The browser runs only while tests do.');
    const context = await this.browser.newContext({ reducedMotion: 'reduce', ...options });
    return this.openIn(context, url, framed);
  }

  /** The same in a browser with the profile of this folder. */
  async openProfile(folder: string, url: string, framed: string[]): Promise<Watched> {
    const context = await chromium.launchPersistentContext(folder, {
      executablePath: this.executablePath,
      args: ARGUMENTS,
    });
    this.profiles.push(context);
    return this.openIn(context, url, framed);
  }

  /** One more tab. */
  async openIn(context: BrowserContext, url: string, framed: string[] = []): Promise<Watched> {
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    const watched: Watched = { page, context, errors: watch(page, [new URL(url).origin, ...framed]) };
    this.opened.push(watched);
    await page.goto(url);
    return watched;
  }

  /** A page whose user has opened this link, and agreed to be signed in as `user`. */
  async openLink(link: string, user: string): Promise<Watched> {
    const watched = await this.open(link);
    await watched.page.getByRole('button', { name: `Continue as ${user}` }).click();
    return watched;
  }

  /** A page whose user has pasted this token, at this path of the console. */
  async openSigned({ url, token }: Signed, path = '', options: BrowserContextOptions = {}): Promise<Watched> {
    const watched = await this.open(`${url}/console/${path}`, options);
    await signIn(watched.page, token);
    return watched;
  }
}

/** Pastes the token, and waits until the page is there. */
export async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Access token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
}

/** Waits until the page says this, wherever. */
export const says = (page: Page, text: string | RegExp): Promise<void> => page.getByText(text).first().waitFor();

/** Waits for the one heading of a screen. */
export const screen = (page: Page, title: string | RegExp): Promise<void> =>
  page.getByRole('heading', { level: 1, name: title }).waitFor();

/**
 * An answer of 4xx or 5xx is said by the page itself, and so is a service that is away. Without https a browser says that
 * it does not keep windows apart.
 */
const SAID = /status of [45]\d\d|net::ERR_|Cross-Origin-Opener-Policy header has been ignored/;

function watch(page: Page, origins: readonly string[]): string[] {
  const errors: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' && !SAID.test(message.text())) errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('request', (request) => {
    const asked = new URL(request.url());
    if (!origins.includes(asked.origin) && asked.protocol !== 'data:') errors.push(`asked ${request.url()}`);
  });
  return errors;
}
