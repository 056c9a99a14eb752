import { useMutation } from '@tanstack/preact-query';
import { Check, X } from 'lucide-preact';
import { useSigned } from '../../../api/signed';
import type { FilterCheck as Answer } from '../../../api/types';
import { Pill } from '../../../parts/pill';
import { plainOf } from '../../../parts/plain';
import { Problem } from '../../../parts/problem';
import { TEXT } from '../../../text/en';
import { conditionsOf, type Filter } from './filter-rows';
import { foundText } from './found';
import { keyOf, namedIn, type Sample, SampleSelect, useChosen } from './samples';

const TEXTS = TEXT.settings.filter;

interface Checked {
  filter: Filter;
  sample: Sample;
  answer: Answer;
}

/** Asks the service whether an event matches the filter, before it is saved. */
export function FilterCheck({ filter, samples }: { filter: Filter; samples: readonly Sample[] }) {
  const { api } = useSigned();
  const [sample, choose] = useChosen(samples);
  const check = useMutation({
    mutationFn: async (of: Sample): Promise<Checked> => {
      const answer = await api.send<Answer>('POST', 'filter-checks', { filter, ...namedIn(of) });
      return { filter, sample: of, answer };
    },
  });
  if (!sample) return null;
  const { data: checked } = check;
  const isCurrent =
    checked !== undefined &&
    keyOf(checked.sample) === keyOf(sample) &&
    JSON.stringify(checked.filter) === JSON.stringify(filter);
  const run = () => {
    // Newer events do not take its place.
    choose(sample);
    check.mutate(sample);
  };
  return (
    <div class="check">
      <div class="actions">
        <SampleSelect label={TEXTS.event} samples={samples} chosen={sample} onChange={choose} />
        <button type="button" class="button" disabled={check.isPending} onClick={run}>
          {sample.id === null ? TEXTS.checkExample : TEXTS.check}
        </button>
      </div>
      {check.isError && <Problem error={check.error} />}
      <div role="status">{isCurrent && <Outcome {...checked} />}</div>
    </div>
  );
}

interface Line {
  path: string;
  /** The operator and what it compares with. */
  expected: string;
  matched: boolean;
  found: string | null;
}

function Outcome(checked: Checked) {
  return (
    <>
      <p class="verdict">{checked.answer.matches ? TEXTS.matches : TEXTS.doesNotMatch}</p>
      <ul class="plain conditions">
        {linesOf(checked).map(({ path, expected, matched, found }) => (
          <li key={`${path} ${expected}`}>
            <Pill tone={matched ? 'good' : 'bad'} icon={matched ? Check : X}>
              {matched ? TEXTS.matched : TEXTS.failed}
            </Pill>
            <span>
              <code>{plainOf(path)}</code> {plainOf(expected)}
              <span class="muted"> · {found === null ? TEXTS.missing : TEXTS.found(plainOf(found))}</span>
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Each condition with its result; of a filter that rows cannot show, only those that did not match. */
function linesOf({ filter, sample, answer: { failed } }: Checked): Line[] {
  const conditions = conditionsOf(filter);
  if (!conditions)
    return failed.map(({ path, operator, expected, found }) => ({
      ...{ path, expected: `${TEXTS.operators[operator]} ${JSON.stringify(expected)}`, matched: false, found },
    }));
  const { subject, ...others } = sample;
  const seen = subject === null ? others : sample;
  return conditions.map(({ path, operator, value }) => {
    const failure = failed.find((each) => each.path === path && each.operator === operator);
    const found = failure ? failure.found : foundText(seen, path);
    return { path, expected: `${TEXTS.operators[operator]} ${value}`, matched: !failure, found };
  });
}
