import type { Analysis, ReleasePolicy, ReleasePolicySpec } from '@tranche/api-schema'
import { type Advice, adviceOf } from '../problems/problem.ts'

/** Names of headers that usually carry credentials. */
const secretHeaders = /^(?:authorization|proxy-authorization|cookie|.*(?:token|secret|api-?key|password).*)$/i

/** Advice about a policy: settings that are allowed but may surprise. */
export function advisePolicy({ spec }: ReleasePolicy): readonly Advice[] {
  return [...headerAdvice(spec), ...perBatchAdvice(spec)]
}

type Header = NonNullable<NonNullable<Analysis['http']>['headers']>[number]

function headerAdvice({ analysis = [], notify = [] }: ReleasePolicySpec): readonly Advice[] {
  return [
    ...analysis.flatMap(({ prometheus, http }, index) => [
      ...plainSecrets(`spec.analysis[${index}].prometheus.headers`, prometheus?.headers),
      ...plainSecrets(`spec.analysis[${index}].http.headers`, http?.headers),
    ]),
    ...notify.flatMap(({ webhook }, index) => plainSecrets(`spec.notify[${index}].webhook.headers`, webhook?.headers)),
  ]
}

function plainSecrets(path: string, headers: readonly Header[] | undefined): readonly Advice[] {
  return (headers ?? []).flatMap(({ name, value }, index) =>
    value !== undefined && secretHeaders.test(name)
      ? [adviceOf('HeaderInClear', { path: `${path}[${index}].value`, value: `${value.length} characters` })]
      : [],
  )
}

/** Compares the two limits when both are numbers: the limit of the whole release is reached first. */
function perBatchAdvice({ failure }: ReleasePolicySpec): readonly Advice[] {
  const { maxFailedNodes, maxFailedNodesPerBatch } = failure ?? {}
  if (typeof maxFailedNodes !== 'number' || typeof maxFailedNodesPerBatch !== 'number' || maxFailedNodesPerBatch <= maxFailedNodes)
    return []
  return [adviceOf('PerBatchUnused', { value: maxFailedNodesPerBatch })]
}
