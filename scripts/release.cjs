// Steps of a release, which .github/workflows/release.yml runs; docs/releases.md explains it.
//   check <tag>                      fails unless the tag is v<version> of package.json and CHANGELOG.md has its section
//   notes <address> <tag>            prints the section of CHANGELOG.md for this version
//   images                           prints the images that the files below name, except our own
//   pin <image> <digests.json>       names all images in the files below by digest
//   package <path> <address> <tag> [folder]
//                                    adds the address of the repository to a package, and makes its links absolute
// The address is that of the repository, such as https://example.com/owner/name. The last two change files in place.
const { existsSync, readdirSync, readFileSync, writeFileSync } = require('node:fs');
const { dirname, join, posix } = require('node:path');
const { isAlias, isMap, isSeq, parseAllDocuments } = require('yaml');

const NAME = 'webhook-notification-service';
const root = dirname(require.resolve('../package.json'));
const read = (path) => readFileSync(join(root, path), 'utf8');

/** Returns why this tag cannot be released, or null. */
function refusal(tag, version, changelog) {
  if (!/^\d+\.\d+\.\d+$/.test(version)) return `package.json has the version ${version}, which is not X.Y.Z.`;
  if (tag !== `v${version}`) return `The tag is ${tag}, but package.json has the version ${version}.`;
  return changelogSection(changelog, version)
    ? null
    : `CHANGELOG.md has no section "## ${version}", or it is empty or unreleased.`;
}

/** Returns the text below the heading of a version; null if there is none, it is empty, or the version is unreleased. */
function changelogSection(changelog, version) {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((each) => each.split(/\s/, 1)[0] === version);
  if (!section || /\(unreleased\)/i.test(section.split('\n', 1)[0])) return null;
  return section.slice(section.indexOf('\n')).trim() || null;
}

/** Makes links of Markdown to files of the repository absolute. `folder` is that of the page, and `address` its repository. */
function absoluteLinks(markdown, folder, address, tag) {
  const absolute = (path) => `${address}/blob/${tag}/${posix.join(folder, path)}`;
  const isInCode = (part) => part.startsWith('```') || part.startsWith('`');
  return markdown
    .split(/(^ *```[^]*?^ *```|`[^`\n]+`)/m)
    .map((part) =>
      isInCode(part.trimStart())
        ? part
        : part.replaceAll(/\]\((?![a-z]+:|#)([^)\s]+)\)/g, (_, path) => `](${absolute(path)})`),
    )
    .join('');
}

/** `${IMAGE:-name}` becomes `name`. */
const withDefaults = (image) => image.replaceAll(/\$\{\w+:?-([^}]*)\}/g, '$1');
const withoutTag = (image) => image.replace(/@.*$/, '').replace(/:[^/:]*$/, '');
const isOurs = (image) => posix.basename(withoutTag(withDefaults(image))) === NAME;

/** All maps below a node that have `image` as a key. */
function mapsWithImage(node) {
  if (isSeq(node)) return node.items.flatMap(mapsWithImage);
  if (!isMap(node)) return [];
  return [...(node.has('image') ? [node] : []), ...node.items.flatMap(({ value }) => mapsWithImage(value))];
}

/** Each map that has `image` as a key, with the text or map that is its value. */
function imagesOf(document) {
  return mapsWithImage(document.contents).map((map) => {
    const value = map.get('image');
    return { map, value: isAlias(value) ? value.resolve(document)?.value : value };
  });
}

/** Returns the images that YAML names, except our own. */
function otherImages(yaml) {
  const images = parseAllDocuments(yaml)
    .flatMap(imagesOf)
    .map(({ value }) => value);
  return images
    .filter((image) => typeof image === 'string' && !isOurs(image) && !image.includes('@'))
    .map(withDefaults);
}

/**
 * Returns the YAML of a Compose file, of manifests or of a chart's values with the digest of each image. `image` is the name of
 * ours with its registry. `digests` has those of our targets `server` and `all-in-one`, and of other images as the files name
 * them; one that is missing is an error. Services of Compose are no longer built.
 */
function withDigests(yaml, image, version, digests) {
  const digestOf = (name) => {
    if (!/^sha256:[0-9a-f]{64}$/.test(digests[name] ?? '')) throw new Error(`There is no digest of ${name}.`);
    return digests[name];
  };
  const documents = parseAllDocuments(yaml);
  for (const { map, value } of documents.flatMap(imagesOf)) {
    if (isMap(value) && isOurs(value.get('repository') || NAME)) {
      value.set('repository', image);
      value.set('tag', version);
      value.set('digest', digestOf('server'));
    } else if (typeof value === 'string' && isOurs(value)) {
      const target = /-all-in-one\}?$/.test(value) ? 'all-in-one' : 'server';
      const tag = target === 'server' ? version : `${version}-${target}`;
      map.set('image', `${image}:${tag}@${digestOf(target)}`);
      map.delete('build');
    } else if (typeof value === 'string' && !value.includes('@')) {
      map.set('image', `${withDefaults(value)}@${digestOf(withDefaults(value))}`);
    }
  }
  return documents.map((document) => document.toString({ lineWidth: 0 })).join('');
}

/** Returns the package.json of a package at this path with the addresses that its page on npm shows. */
const withAddress = (manifest, path, address, tag) => ({
  ...manifest,
  repository: { type: 'git', url: `git+${address}.git`, directory: path },
  homepage: `${address}/blob/${tag}/${path}/README.md`,
  bugs: { url: `${address}/issues` },
});

/** The files that name images, as far as this checkout has them. */
function deploymentFiles() {
  const folder = join(root, 'deploy/kubernetes');
  const manifests = existsSync(folder) ? readdirSync(folder, { recursive: true }) : [];
  const yaml = manifests.filter((name) => name.endsWith('.yaml')).map((name) => `deploy/kubernetes/${name}`);
  return ['docker-compose.yml', 'deploy/helm/values.yaml', ...yaml].filter((path) => existsSync(join(root, path)));
}

const { version } = JSON.parse(read('package.json'));
const commands = {
  check(tag) {
    const reason = refusal(tag, version, read('CHANGELOG.md'));
    if (reason === null) return;
    console.error(reason);
    process.exitCode = 1;
  },
  notes(address, tag) {
    console.log(absoluteLinks(changelogSection(read('CHANGELOG.md'), version) ?? '', '', address, tag));
  },
  images() {
    console.log([...new Set(deploymentFiles().flatMap((path) => otherImages(read(path))))].join('\n'));
  },
  pin(image, digestsFile) {
    const digests = JSON.parse(readFileSync(digestsFile, 'utf8'));
    for (const path of deploymentFiles())
      writeFileSync(join(root, path), withDigests(read(path), image, version, digests));
  },
  package(path, address, tag, folder = join(root, path)) {
    const [manifest, readme] = [join(folder, 'package.json'), join(folder, 'README.md')];
    const described = withAddress(JSON.parse(readFileSync(manifest, 'utf8')), path, address, tag);
    writeFileSync(manifest, `${JSON.stringify(described, null, 2)}\n`);
    writeFileSync(readme, absoluteLinks(readFileSync(readme, 'utf8'), path, address, tag));
  },
};

module.exports = { refusal, changelogSection, absoluteLinks, otherImages, withDigests, deploymentFiles };
if (require.main === module) {
  const [command, ...args] = process.argv.slice(2);
  if (!Object.hasOwn(commands, command ?? '')) throw new Error(`release.cjs has no command "${command}".`);
  commands[command](...args);
}
