import { createHmac } from 'node:crypto';
import { type DiagnosisOptions, findingsOf } from './diagnosis';
import { sentenceOf } from './finding-sentences';
import type { ReceivedRequest, Search } from './signature-search';

/** Whether a recorded request is genuine, and why. */
export interface Diagnosis {
  /** True when the request and its time were signed with this secret (Standard Webhooks), and recently enough. */
  genuine: boolean;
  /** The findings, one sentence each, the most important first. */
  findings: string[];
}

/** Returns whether the signatures of a recorded request match the secret, and why not. Never throws. */
export function diagnose(request: ReceivedRequest, options: DiagnosisOptions): Diagnosis {
  const { genuine, findings } = run(findingsOf(request, options));
  return { genuine, findings: findings.map(sentenceOf) };
}

/** Computes the signatures that the search asks for, by node:crypto. */
function run<T>(search: Search<T>): T {
  let step = search.next();
  while (!step.done) {
    const hmac = createHmac('sha256', step.value.key);
    for (const part of step.value.parts) hmac.update(part);
    step = search.next(hmac.digest());
  }
  return step.value;
}
