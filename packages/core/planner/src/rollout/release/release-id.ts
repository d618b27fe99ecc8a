import type { Rollout } from '@tranche/api-schema'

/** Id of one release of one revision of one DaemonSet, as in `spec.tranche.release`. */
export function releaseId({ metadata, status }: Rollout): string {
  const { canaryRevision = '', observedWorkloadGeneration = 0 } = status?.canaryStatus ?? {}
  return `${metadata.uid}/${canaryRevision}/${status?.releaseGeneration ?? observedWorkloadGeneration}`
}

/** @returns the parts of a {@link releaseId}; empty strings where there are none */
export function partsOfReleaseId(id = ''): Readonly<Record<'uid' | 'revision' | 'generation', string>> {
  const [uid = '', revision = '', generation = ''] = id.split('/')
  return { uid, revision, generation }
}
