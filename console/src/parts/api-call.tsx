import { type ApiPath, apiUrlOf } from '../api/address';
import { TEXT } from '../text/en';
import { CopyButton } from './copy';
import { quoted } from './curl';
import { plainOf } from './plain';

/** The same action without the console: everything it does is one documented request. */
export function ApiCall({ method, path, body }: { method: string; path: ApiPath; body?: unknown }) {
  const command = callCommand(method, path, body);
  return (
    <details class="api-call">
      <summary>{TEXT.apiCall}</summary>
      <pre tabIndex={0}>{plainOf(command)}</pre>
      <CopyButton text={command} />
    </details>
  );
}

/** Returns the command that sends this request to the API, with the access token in `$TOKEN`. */
export const callCommand = (method: string, path: ApiPath, body?: unknown): string =>
  [
    `curl -X ${method}`,
    quoted(apiUrlOf(path)),
    '-H "Authorization: Bearer $TOKEN"',
    ...(body === undefined ? [] : ["-H 'content-type: application/json'", `-d ${quoted(JSON.stringify(body))}`]),
  ].join(' \\\n  ');
