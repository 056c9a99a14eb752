import { TEXT } from '../../text/en';
import { type Excerpt, firstDifference } from './first-difference';

const { difference } = TEXT.verify;
const sizeOf = (bytes: Uint8Array): string => TEXT.delivery.bytes(bytes.length);

/** Where the received body first differs from the sent one. */
export function FirstDifference({ sent, received }: { sent: Uint8Array; received: Uint8Array }) {
  const found = firstDifference(sent, received);
  if (!found) return <p class="muted small">{difference.same}</p>;
  return (
    <section class="difference" aria-labelledby="difference">
      <h2 id="difference">{difference.title}</h2>
      <p>{difference.at((found.at + 1).toLocaleString('en'), sizeOf(sent), sizeOf(received))}</p>
      <dl>
        <Line name={difference.sent} excerpt={found.sent} tone="good" />
        <Line name={difference.received} excerpt={found.received} tone="bad" />
      </dl>
    </section>
  );
}

const Line = ({
  name,
  excerpt: { before, mark, byte, after },
  tone,
}: {
  name: string;
  excerpt: Excerpt;
  tone: 'good' | 'bad';
}) => (
  <>
    <dt>{byte ? `${name} · ${byte}` : name}</dt>
    <dd>
      <code>
        {before}
        <mark class={tone}>{mark ?? `⟨${difference.end}⟩`}</mark>
        {after}
      </code>
    </dd>
  </>
);
