import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { describeWhereInstalled } from '../../support/programs';

const ROOT = join(__dirname, '../../..');
const WORKFLOW = '.github/workflows/release.yml';
const ADDRESS = 'https://example.com/acme/hooks';
const IMAGE = 'registry.example.com/acme/webhook-notification-service';
const [SERVER, ALL_IN_ONE, OTHER] = ['a', 'b', 'c'].map((digit) => `sha256:${digit.repeat(64)}`) as [
  string,
  string,
  string,
];
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const { version } = JSON.parse(read('package.json')) as { version: string };

type Digests = Record<string, string>;
interface Release {
  refusal(tag: string, version: string, changelog: string): string | null;
  changelogSection(changelog: string, version: string): string | null;
  absoluteLinks(markdown: string, folder: string, address: string, tag: string): string;
  otherImages(yaml: string): string[];
  withDigests(yaml: string, image: string, version: string, digests: Digests): string;
  deploymentFiles(): string[];
}
// eslint-disable-next-line @typescript-eslint/no-require-imports -- a CommonJS file without types
const release = require(join(ROOT, 'scripts/release.cjs')) as Release;
const pinned = (yaml: string, others: Digests = {}) =>
  release.withDigests(yaml, IMAGE, '1.2.3', { server: SERVER, 'all-in-one': ALL_IN_ONE, ...others });

const CHANGELOG = `# Changelog

## 1.3.0 (unreleased)

- Later.

## 1.2.3

- **New**: [a page](docs/page.md#part).

## 1.2.30

- Other.

## 1.2.2
`;

describe('A release', () => {
  it.each([
    ['v1.2.3', '1.2.3', null],
    ['v1.2.4', '1.2.3', 'The tag is v1.2.4, but package.json has the version 1.2.3.'],
    ['1.2.3', '1.2.3', 'The tag is 1.2.3, but package.json has the version 1.2.3.'],
    ['v1.3.0', '1.3.0', 'CHANGELOG.md has no section "## 1.3.0", or it is empty or unreleased.'],
    ['v1.2.2', '1.2.2', 'CHANGELOG.md has no section "## 1.2.2", or it is empty or unreleased.'],
    ['v1.2', '1.2', 'package.json has the version 1.2, which is not X.Y.Z.'],
    ['v1.2.3-rc.1', '1.2.3-rc.1', 'package.json has the version 1.2.3-rc.1, which is not X.Y.Z.'],
  ])('of the tag %s with the version %s: %s', (tag, ofPackage, reason) => {
    expect(release.refusal(tag, ofPackage, CHANGELOG)).toBe(reason);
  });

  it('is refused by the command for a tag of another version', () => {
    const command = [join(ROOT, 'scripts/release.cjs'), 'check', 'v0.0.1'];
    const { status, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8' });
    expect([status, stderr]).toEqual([1, `The tag is v0.0.1, but package.json has the version ${version}.\n`]);
  });

  it('has the section of the changelog as its text, with absolute links', () => {
    const section = release.changelogSection(CHANGELOG, '1.2.3') ?? '';
    expect(release.absoluteLinks(section, '', ADDRESS, 'v1.2.3')).toBe(
      `- **New**: [a page](${ADDRESS}/blob/v1.2.3/docs/page.md#part).`,
    );
  });

  it('changes no link that is absolute already, in the page, or code', () => {
    const text = '[a](https://a.example/b) [c](#c) `[d](e)`\n\n```ts\nlist[0](f)\n```\n\n[g](../../g.md)';
    const expected = text.replace('../../g.md', `${ADDRESS}/blob/v1.2.3/g.md`);
    expect(release.absoluteLinks(text, 'packages/library', ADDRESS, 'v1.2.3')).toBe(expected);
  });
});

describe('Digests of a release', () => {
  it('stand in a Compose file, which no longer builds', () => {
    const compose = `# A comment.
x-image: &image \${IMAGE:-webhook-notification-service}:\${VERSION:-1.2.3}
services:
  api:
    image: *image # our own
    build: { context: ., target: server }
    environment:
      SECRETS_KEY: '\${SECRETS_KEY:?It is missing: make one}'
  try:
    image: \${IMAGE:-webhook-notification-service}:1.2.3-all-in-one
  plain:
    image: webhook-notification-service
  postgres:
    image: postgres:17
  redis: { image: 'valkey/valkey:9@${OTHER}' }
`;
    expect(release.otherImages(compose)).toEqual(['postgres:17']);
    const text = pinned(compose, { 'postgres:17': OTHER });
    expect(text).toContain('# A comment.\n');
    expect(text).toContain("SECRETS_KEY: '${SECRETS_KEY:?It is missing: make one}'\n");
    const { services } = parse(text) as { services: Record<string, { image: string; build?: object }> };
    expect(Object.values(services).map(({ image }) => image)).toEqual([
      `${IMAGE}:1.2.3@${SERVER}`,
      `${IMAGE}:1.2.3-all-in-one@${ALL_IN_ONE}`,
      `${IMAGE}:1.2.3@${SERVER}`,
      `postgres:17@${OTHER}`,
      `valkey/valkey:9@${OTHER}`,
    ]);
    expect(services.api).not.toHaveProperty('build');
  });

  it("stand in a chart's values", () => {
    const values =
      'image:\n  # the registry\n  repository: webhook-notification-service\n  tag: ""\n  pullPolicy: Always\ntest: { image: { repository: busybox } }\n';
    expect(parse(pinned(values))).toEqual({
      image: { repository: IMAGE, tag: '1.2.3', digest: SERVER, pullPolicy: 'Always' },
      test: { image: { repository: 'busybox' } },
    });
  });

  it('stand in every manifest of a file', () => {
    const pod = (name: string) =>
      `kind: Pod\nspec:\n  containers:\n    - name: ${name}\n      image: webhook-notification-service:1.2.3\n`;
    const text = pinned(`---\n${pod('a')}---\n${pod('b')}`);
    expect(text).toBe(
      `---\n${pod('a')}---\n${pod('b')}`
        .replaceAll('service:1.2.3', `service:1.2.3@${SERVER}`)
        .replaceAll('image: w', `image: ${IMAGE.replace(/w.*/, '')}w`),
    );
  });

  it('are required of every image', () => {
    expect(() => pinned('image: postgres:17')).toThrow('There is no digest of postgres:17.');
    expect(() => release.withDigests(`image: ${IMAGE}`, IMAGE, '1.2.3', { server: 'latest' })).toThrow(
      'There is no digest of server.',
    );
  });

  it('stand in the files of this repository, and nothing else has changed', () => {
    const files = release.deploymentFiles();
    expect(files).toContain('docker-compose.yml');
    for (const file of files) {
      const others = release.otherImages(read(file)).map((image) => [image, OTHER] as const);
      const text = pinned(read(file), Object.fromEntries(others));
      const images = [...text.matchAll(/^\s*(?:- )?image: ['"]?([^\s'"{]+)/gm)].map(([, image]) => image);
      expect(images.filter((image) => !/^\S+:\S+@sha256:[abc]{64}$/.test(image ?? ''))).toEqual([]);
      if (!file.startsWith('deploy/kubernetes/')) expect(text).toContain(SERVER);
      const withoutImages = (yaml: string) =>
        JSON.stringify(parse(yaml, { logLevel: 'silent' }), (key, value: unknown) =>
          /^(image|build)$/.test(key) ? undefined : value,
        );
      if (file === 'docker-compose.yml') expect(withoutImages(text)).toBe(withoutImages(read(file)));
    }
  });
});

describe.each([
  ['packages/webhook-notification', 'docs/verifying.md'],
  ['packages/webhook-notification-cli', 'docs/coming-over.md'],
])('%s, as a release packs it', (path, linked) => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'wns-release-'));
    const copy = join(folder, 'copy');
    cpSync(join(ROOT, path), copy, { recursive: true });
    execFileSync(process.execPath, [join(ROOT, 'scripts/release.cjs'), 'package', path, ADDRESS, 'v1.2.3', copy]);
    const pack = ['pack', '--ignore-scripts', '--pack-destination', folder, '--loglevel=error'];
    const tarball = execFileSync('npm', pack, { cwd: copy, encoding: 'utf8' }).trim();
    execFileSync('tar', ['-xzf', join(folder, tarball), '-C', folder]);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('names its repository, homepage and where to report bugs', () => {
    const packed = JSON.parse(readFileSync(join(folder, 'package/package.json'), 'utf8')) as object;
    const committed = JSON.parse(read(join(path, 'package.json'))) as { keywords: string[] };
    expect(committed.keywords).toContain('webhooks');
    expect(packed).toEqual({
      ...committed,
      repository: { type: 'git', url: `git+${ADDRESS}.git`, directory: path },
      homepage: `${ADDRESS}/blob/v1.2.3/${path}/README.md`,
      bugs: { url: `${ADDRESS}/issues` },
    });
  });

  it('has only links that work on its page on npm: absolute ones, to files that exist', () => {
    const readme = readFileSync(join(folder, 'package/README.md'), 'utf8');
    const links = [...readme.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link ?? '');
    expect(links.length).toBeGreaterThan(5);
    const blob = `${ADDRESS}/blob/v1.2.3/`;
    // A heading of the page itself is there, too.
    expect(links.filter((link) => !/^(https:\/\/|#)/.test(link))).toEqual([]);
    const paths = links
      .filter((link) => link.startsWith(blob))
      .map((link) => link.slice(blob.length).replace(/#.*/, ''));
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    expect(paths).toContain(linked);
  });

  it('is found right by publint', () => {
    const publint = [join(ROOT, 'node_modules/publint/src/cli.js'), 'run', '--strict', '--pack', 'false'];
    const { status, stdout } = spawnSync(process.execPath, [...publint, join(folder, 'package')], { encoding: 'utf8' });
    expect({ status, said: status === 0 ? '' : stdout }).toEqual({ status: 0, said: '' });
  });
});

describe('The workflow of a release', () => {
  const text = read(WORKFLOW);
  const { jobs } = parse(text) as {
    jobs: Record<string, { permissions: Record<string, string>; steps: { uses?: string; run?: string }[] }>;
  };
  const steps = Object.values(jobs).flatMap((job) => job.steps);
  const scripts = steps.map(({ run }) => run ?? '').join('\n');

  it('names files that exist', () => {
    const named = [...scripts.matchAll(/(?:^|[\s:"])((?:deploy|scripts|packages|\.ci)\/[\w./-]+|docker-[\w.]+)/gm)].map(
      ([, path]) => path ?? '',
    );
    expect(named).toEqual(expect.arrayContaining(['scripts/release.cjs', '.ci/run', 'docker-bake.hcl', 'deploy/helm']));
    const isThere = (path: string) =>
      existsSync(join(ROOT, path)) || (path.startsWith('deploy/') && !existsSync(join(ROOT, 'deploy')));
    expect(named.filter((path) => !isThere(path))).toEqual([]);
  });

  it('pins each action to a commit, and puts no expression into a script', () => {
    const uses = steps.flatMap((step) => step.uses ?? []);
    expect(uses.length).toBeGreaterThan(5);
    expect(uses.filter((action) => !/@[0-9a-f]{40}$/.test(action))).toEqual([]);
    expect(scripts).not.toContain('${{ ');
  });

  it('gives each job only the rights that it needs', () => {
    expect(text).toContain('\npermissions: {}\n');
    expect(Object.fromEntries(Object.entries(jobs).map(([name, { permissions }]) => [name, permissions]))).toEqual({
      check: { contents: 'read' },
      images: { contents: 'read', packages: 'write', 'id-token': 'write' },
      packages: { contents: 'read', 'id-token': 'write' },
      release: { contents: 'write' },
    });
  });
});

describeWhereInstalled('actionlint', 'The workflow of a release, by actionlint', () => {
  it('is valid', () => {
    const { status, stdout } = spawnSync('actionlint', [join(ROOT, WORKFLOW)], { encoding: 'utf8' });
    expect([status, stdout]).toEqual([0, '']);
  });
});

describeWhereInstalled('zizmor', 'The workflow of a release, by zizmor', () => {
  it('has no known weakness', () => {
    const { status, stdout } = spawnSync('zizmor', ['--offline', join(ROOT, WORKFLOW)], { encoding: 'utf8' });
    expect({ status, said: status === 0 ? '' : stdout }).toEqual({ status: 0, said: '' });
  });
});

describeWhereInstalled('buildx', 'The images, by buildx', () => {
  it('are both built for two platforms, with labels, SBOM and provenance', () => {
    const bake = ['bake', '--file', join(ROOT, 'docker-bake.hcl'), '--print'];
    const env = {
      PATH: process.env.PATH,
      IMAGE,
      VERSION: '1.2.3',
      REVISION: 'abc',
      CREATED: '2026-01-02T03:04:05Z',
      SOURCE: ADDRESS,
    };
    const { target } = JSON.parse(
      execFileSync('buildx', bake, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
    ) as {
      target: Record<string, { tags: string[]; labels: Record<string, string> }>;
    };
    const labels = ['title', 'description', 'licenses', 'version', 'revision', 'created', 'source'];
    for (const [name, tag] of Object.entries({ server: '1.2.3', 'all-in-one': '1.2.3-all-in-one' })) {
      expect(target[name]).toMatchObject({
        target: name,
        tags: [`${IMAGE}:${tag}`],
        platforms: ['linux/amd64', 'linux/arm64'],
        attest: [{ type: 'provenance', mode: 'max' }, { type: 'sbom' }],
      });
      expect(Object.keys(target[name]?.labels ?? {}).sort()).toEqual(
        labels.map((label) => `org.opencontainers.image.${label}`).sort(),
      );
    }
    expect(Object.keys(target).sort()).toEqual(['all-in-one', 'server']);
  });
});
