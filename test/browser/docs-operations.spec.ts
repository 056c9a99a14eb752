import type { Locator, Page } from 'playwright-core';
import { Api, dataOf, exchange } from '../support/api';
import { useHostileDns } from '../support/hostile-dns';
import { waitFor } from '../support/wait-for';
import { describeInBrowser } from './stage/browser';
import { type LocalService, startLocalService } from './stage/local-service';
import { authorize, CopiedIds, type ShownOperation } from './stage/swagger';

type Paths = Record<string, Record<string, { responses: Record<string, object> }>>;

interface Answer {
  status: number;
  body: string;
  sent: string | null;
}

const nameOf = ({ method, path }: ShownOperation): string => `${method} ${path}`;

async function shownBy(block: Locator): Promise<ShownOperation> {
  const [method, path] = await Promise.all([
    block.locator('.opblock-summary-method').textContent(),
    block.locator('.opblock-summary-path').getAttribute('data-path'),
  ]);
  return { method: method ?? '', path: path ?? '' };
}

/** Returns the names of the examples of the request body; one null for an operation without a choice. */
async function examplesOf(block: Locator): Promise<(string | null)[]> {
  const options = await block.locator('.opblock-section-request-body .examples-select-element option').all();
  const names = await Promise.all(options.map((option) => option.getAttribute('value')));
  return names.length === 0 ? [null] : names;
}

/** Returns the sections that have operations: the tag of the requests that receivers get has none. */
async function sectionsOf(page: Page): Promise<Locator[]> {
  const all = await page.locator('.opblock-tag-section').all();
  const counts = await Promise.all(all.map((section) => section.locator('.opblock').count()));
  return all.filter((_, i) => counts[i] !== 0);
}

/** Opens or closes a section. Swagger UI renders all open ones again after each change. */
const toggle = (section: Locator): Promise<void> => section.locator('.opblock-tag').click();

/** Executes an operation once with each of its examples. */
async function executeAll(page: Page, block: Locator, shown: ShownOperation, ids: CopiedIds): Promise<Answer[]> {
  await block.locator('.opblock-summary-control').click();
  await block.locator('.btn.execute').waitFor();
  const answers: Answer[] = [];
  for (const example of await examplesOf(block)) {
    if (example !== null)
      await block.locator('.opblock-section-request-body .examples-select-element').selectOption(example);
    const answer = await execute(page, block, shown, ids);
    if (answers.some(({ sent }) => sent === answer.sent)) throw new Error(`${nameOf(shown)} did not send ${example}.`);
    answers.push(answer);
  }
  await block.locator('.opblock-summary-control').click();
  return answers;
}

/** Presses *Execute*, and fills in only parameters of the path that are empty. */
async function execute(page: Page, block: Locator, shown: ShownOperation, ids: CopiedIds): Promise<Answer> {
  const params = ids.paramsFor(shown.path);
  for (const [name, value] of Object.entries(params)) {
    const input = block.locator(`tr[data-param-in="path"][data-param-name="${name}"] input`);
    if ((await input.inputValue()) === '') await input.fill(value);
  }
  const path = new RegExp(`^${shown.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
  const answered = page.waitForResponse(
    (response) => response.request().method() === shown.method && path.test(new URL(response.url()).pathname),
  );
  await block.locator('.btn.execute').click();
  const response = await answered;
  const answer = { status: response.status(), body: await response.text(), sent: response.request().postData() };
  ids.copyFrom(shown, params, answer.body);
  return answer;
}

function problemsOf({ status, body, sent }: Answer, documented: object): string[] {
  const { data } = JSON.parse(body) as { data?: unknown };
  const isEmptyList = Array.isArray(data) && data.length === 0;
  return status < 300 && String(status) in documented && !isEmptyList ? [] : [`${sent}: ${status} ${body}`];
}

describeInBrowser('Swagger UI', (browser) => {
  const startDns = useHostileDns();
  let service: LocalService;
  beforeAll(async () => {
    // Nothing leaves this machine: no name exists.
    service = await startLocalService({ DNS_SERVERS: (await startDns(() => 'NXDOMAIN')).server });
  });
  afterAll(() => service?.stop());

  /** Waits for deliveries to both active webhooks, which a person would wait for too. */
  const deliveriesBegin = () =>
    waitFor(
      async () => {
        const deliveries = await dataOf(new Api(service.url, service.token).listAllDeliveries());
        const ofEvents = deliveries.filter(({ trigger }) => trigger === 'event');
        return new Set(ofEvents.map(({ webhookId }) => webhookId)).size > 1;
      },
      { what: 'deliveries to both webhooks' },
    );

  it('executes every operation and example of its page as it fills them in, in their order', async () => {
    const { paths } = JSON.parse((await exchange(service.url, 'GET', '/docs/openapi.json')).text) as { paths: Paths };
    const { page } = await browser.open(`${service.url}/docs`);
    // A busy machine takes seconds to render the page again, which each press of a button does.
    page.setDefaultTimeout(120_000);
    await page.locator('.opblock-tag-section .opblock').first().waitFor();
    await authorize(page, service.token);
    const sections = await sectionsOf(page);
    for (const section of sections) await toggle(section);
    const ids = new CopiedIds();
    const [executed, problems] = [[] as string[], [] as string[]];
    for (const section of sections) {
      await toggle(section);
      await section.locator('.opblock').first().waitFor();
      for (const block of await section.locator('.opblock').all()) {
        const shown = await shownBy(block);
        executed.push(nameOf(shown));
        if (nameOf(shown) === 'GET /api/webhooks/{id}/deliveries') await deliveriesBegin();
        // The only operation that needs another token than all others.
        const isOfSession = nameOf(shown) === 'DELETE /api/console-sessions';
        if (isOfSession) await authorize(page, ids.sessionToken);
        const answers = await executeAll(page, block, shown, ids);
        if (isOfSession) await authorize(page, service.token);
        const { responses = {} } = paths[shown.path]?.[shown.method.toLowerCase()] ?? {};
        problems.push(
          ...answers.flatMap((answer) => problemsOf(answer, responses)).map((each) => `${nameOf(shown)}: ${each}`),
        );
      }
      await toggle(section);
    }
    expect(problems).toEqual([]);
    expect(executed.slice(0, 2)).toEqual(['POST /api/webhooks', 'GET /api/webhooks']);
    expect(executed.sort()).toEqual(
      Object.entries(paths)
        .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
        .sort(),
    );
  }, 900_000);
});
