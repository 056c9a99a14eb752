/** Shorter names are within two edits of those of other programs: HOME of HOST. */
const MIN_LETTERS = 8;
const MAX_EDITS = 2;

/** Variables of Django, Auth0 and others, which a shared environment may contain. */
const OF_OTHER_PROGRAMS = /^(SECRET_KEY|LOGLEVEL|AUTH0_\w+|OAUTH_\w+)$/;
/** Kubernetes and Docker describe each service by such values, as in METRIC_PORT. */
const OF_A_SERVICE = /^(tcp|udp|sctp):\/\//;

/** Variables that a `.env` file may also have: those of docker-compose.yml, of the commands, and of Node.js and others. */
const ALSO_IN_ENV_FILES =
  /^(POSTGRES_PASSWORD|IMAGE|SECOND_PORT|PROMETHEUS_PORT|WEBHOOKS_(URL|TOKEN)|WEBHOOK_SECRET|TZ|((COMPOSE|DOCKER|NODE|OTEL|PG|SSL|UV|npm)_?|[a-z]).*)$/;

/** Returns a message for each variable that is almost a setting, and not one. */
export function misspelledSettings(
  environment: Readonly<Record<string, string | undefined>>,
  settings: readonly string[],
): string[] {
  const long = settings.filter((name) => name.replaceAll('_', '').length >= MIN_LETTERS);
  return Object.entries(environment).flatMap(([name, value]) => {
    if (!value || settings.includes(name) || OF_OTHER_PROGRAMS.test(name) || OF_A_SERVICE.test(value)) return [];
    const meant = long.find((setting) => isWithin(MAX_EDITS, name, setting));
    // The variables of Windows have no case.
    const isKnown = meant === undefined || (meant === name.toUpperCase() && environment[meant] === value);
    return isKnown ? [] : [`${name} is no setting. Rename it to ${meant} if you mean that, or else remove it.`];
  });
}

/** Returns the names in a `.env` file that no program known to us reads. */
export const unknownNames = (names: readonly string[], settings: readonly string[]): string[] =>
  names.filter((name) => !settings.includes(name) && !OF_OTHER_PROGRAMS.test(name) && !ALSO_IN_ENV_FILES.test(name));

/** True when at most `edits` additions, removals or replacements of a character make `one` the `other`. */
function isWithin(edits: number, one: string, other: string): boolean {
  let same = 0;
  while (same < one.length && one[same] === other[same]) same++;
  const [a, b] = [one.slice(same), other.slice(same)];
  if (Math.abs(a.length - b.length) > edits) return false;
  if (a === '' || b === '') return true;
  const [shorterA, shorterB] = [a.slice(1), b.slice(1)];
  return (
    edits > 0 &&
    [
      [shorterA, b],
      [a, shorterB],
      [shorterA, shorterB],
    ].some(([x = '', y = '']) => isWithin(edits - 1, x, y))
  );
}
