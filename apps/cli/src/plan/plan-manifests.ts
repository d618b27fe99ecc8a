import type { ClusterSnapshot, ReleasePolicy, Rollout } from '@tranche/api-schema'
import { AppError } from '@tranche/errors'
import { type DaemonSet, rolloutAnnotations } from '@tranche/kube-types'
import { type ImmutableConfig, toImmutableConfig } from '@tranche/validation'
import { lintDocuments } from '../lint/lint-documents.ts'
import type { SourceDocument } from '../lint/read-documents.ts'

/** The documents of a plan, in place of the objects of the cluster. */
export interface PlannedManifests {
  readonly daemonSet?: Pick<DaemonSet, 'spec'>
  readonly rollout?: Pick<Rollout, 'spec'> & { readonly metadata: Pick<Rollout['metadata'], 'annotations'> }
  readonly policy?: Pick<ReleasePolicy, 'spec'> & { readonly metadata: Pick<ReleasePolicy['metadata'], 'name'> }
  /** ConfigMaps and Secrets of the namespace with `immutable: true`. */
  readonly immutable?: readonly ImmutableConfig[]
}

/**
 * Selects the documents that affect a release: its DaemonSet, its Rollout, the ReleasePolicy of the Rollout, and immutable
 * ConfigMaps and Secrets. Ignores others.
 *
 * @throws {AppError} OPTION_INVALID if a document is invalid, or none affects the release
 */
export function planManifests(documents: readonly SourceDocument[], { rollout }: ClusterSnapshot): PlannedManifests {
  const [problem] = lintDocuments(documents).findings.filter(({ level }) => level === 'problem')
  if (problem !== undefined)
    throw new AppError('OPTION_INVALID', `${problem.document.source}: ${problem.path}: ${problem.message}`, {
      hint: 'Fix the manifest; tranche lint -f shows all its problems.',
    })
  const { namespace, name } = rollout.metadata
  const values = documents.map(({ content }) => (content.kind === 'value' ? (content.value as Named) : undefined))
  const find = (kind: string, named: string): unknown =>
    values.find((one) => one?.kind === kind && one.metadata?.name === named && (one.metadata.namespace ?? namespace) === namespace)
  const planned = find('Rollout', name) as PlannedManifests['rollout']
  const { workloadRef } = (planned ?? rollout).spec
  const policyName = { ...rollout.metadata.annotations, ...planned?.metadata.annotations }[rolloutAnnotations.releasePolicy]
  const daemonSet = find('DaemonSet', workloadRef.name) as PlannedManifests['daemonSet']
  const policy = policyName === undefined ? undefined : (find('ReleasePolicy', policyName) as PlannedManifests['policy'])
  if (planned === undefined && daemonSet === undefined && policy === undefined)
    throw new AppError('OPTION_INVALID', `--filename: no document affects Rollout ${namespace}/${name}`, {
      hint: `Name a file with DaemonSet ${workloadRef.name}, with the Rollout, or with its ReleasePolicy.`,
    })
  const immutable = values.flatMap((one) => toImmutableConfig(one) ?? []).filter((one) => (one.namespace || namespace) === namespace)
  return {
    ...(daemonSet && { daemonSet }),
    ...(planned && { rollout: planned }),
    ...(policy && { policy }),
    ...(immutable.length > 0 && { immutable }),
  }
}

interface Named {
  readonly kind?: string
  readonly metadata?: { readonly name?: string; readonly namespace?: string }
}
