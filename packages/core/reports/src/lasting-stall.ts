import { presentReason, type Rollout, type StalledReason } from '@tranche/api-schema'

/** Stalls caused by the spec or the cluster: another template does not end them. */
const lasting: readonly StalledReason[] = [
  'InvalidSpec',
  'UnsupportedField',
  'WorkloadTaken',
  'CRDOutdated',
  'OpenKruiseActive',
  'ForeignControl',
  'PolicyNotFound',
  'PolicyInvalid',
  'ConfigUnpinned',
]

/** Whether a stall keeps every template from being released, also one that came after it. */
export function isLasting(stalled: string | null): boolean {
  return lasting.some((reason) => reason === stalled)
}

/** Whether a Rollout has such a stall now. */
export function hasLastingStall({ status }: Rollout): boolean {
  const stalled = status?.conditions?.find(({ type }) => type === 'Stalled')
  return stalled?.status === 'True' && isLasting(presentReason(stalled.reason))
}
