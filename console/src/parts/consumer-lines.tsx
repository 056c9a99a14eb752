import { encoded } from '../api/address';
import { urlOf } from '../api/base';
import { TEXT } from '../text/en';
import { callCommand } from './api-call';
import { CopyButton } from './copy';
import { quoted } from './curl';

/** How a consumer gets the events of a pull webhook: by a command, or by two requests. */
export function ConsumerLines({ id }: { id: string }) {
  const service = quoted(urlOf('').replace(/\/$/, ''));
  const listen = [
    'npx webhook-notification-cli listen',
    '--to http://localhost:4000 --yes',
    `--service ${service}`,
    `--webhook ${id}`,
  ].join(' \\\n  ');
  const of = (route: string) => encoded`webhooks/${id}/messages/${route}`;
  return (
    <div class="consumer-lines">
      <Line says={TEXT.pull.listen} command={listen} />
      <details>
        <summary>{TEXT.pull.overApi}</summary>
        <Line says={TEXT.pull.leaseEvents} command={callCommand('POST', of('lease'), { waitSeconds: 20 })} />
        <Line says={TEXT.pull.acknowledge} command={callCommand('POST', of('ack'), { succeeded: ['<leaseId>'] })} />
      </details>
      <p class="small muted">{TEXT.pull.scope}</p>
    </div>
  );
}

const Line = ({ says, command }: { says: string; command: string }) => (
  <div>
    <p class="small muted">{says}</p>
    <pre tabIndex={0}>{command}</pre>
    <CopyButton text={command} />
  </div>
);
