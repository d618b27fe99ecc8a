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

/** @returns generation of the DaemonSet in a {@link releaseId} that anyone may have written; undefined without one */
export function generationOfReleaseId(id: string | undefined): number | undefined {
  const { generation } = partsOfReleaseId(id)
  return /^\d{1,15}$/.test(generation) ? Number(generation) : undefined
}

/** Whether a text that anyone may have written is a {@link releaseId}, with or without the end `/left` of a failure. */
export function isReleaseId(text: string | undefined): boolean {
  return text !== undefined && /^[^/]{1,63}\/[^/]{1,63}\/\d{1,15}(\/left)?$/.test(text)
}
