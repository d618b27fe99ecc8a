import type { DoctorFinding } from '@tranche/api-schema'
import type { KubeClient } from '@tranche/kube-client'
import { checkFindings } from './checks/check-findings.ts'
import type { Examiner } from './checks/examiner.ts'
import { type Behalf, guardReads } from './signs/guarded-reads.ts'
import { readSigns, type SignOptions } from './signs/read-signs.ts'

/** Access, scope and program of {@link examineCluster}. */
export interface ExamineOptions extends SignOptions {
  readonly client: KubeClient
  /** User on whose behalf the client reads; null: the client has the rights of the user. */
  readonly behalf: Behalf | null
  readonly examiner: Examiner
  readonly signal: AbortSignal
}

/**
 * Checks the prerequisites of a cluster and suggests fixes. Changes nothing. A check without the right for its reads is `unknown`.
 *
 * @throws {AppError} if the API server does not answer
 */
export async function examineCluster({ client, behalf, examiner, ...options }: ExamineOptions): Promise<readonly DoctorFinding[]> {
  const ending = new AbortController()
  const signal = AbortSignal.any([options.signal, ending.signal])
  try {
    return checkFindings(await readSigns({ ...options, reads: guardReads(client, behalf, signal), signal }), examiner)
  } finally {
    ending.abort(new Error('the checks have ended'))
  }
}
