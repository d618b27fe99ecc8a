import type { ReleasePolicy, ReleasePolicySpec } from '@tranche/api-schema'

/** @returns a ReleasePolicy with this spec */
export function policyWith(spec: ReleasePolicySpec): ReleasePolicy {
  return { metadata: { name: 'careful', namespace: 'demo', uid: 'p1', resourceVersion: '1' }, spec }
}
