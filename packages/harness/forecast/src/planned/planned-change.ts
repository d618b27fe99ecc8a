import type { ClusterSnapshot, ForecastRequest, ReleasePolicy, Rollout } from '@tranche/api-schema'
import type { ConfigObject } from '@tranche/config'
import { AppError } from '@tranche/errors'
import type { DaemonSet, PodTemplate } from '@tranche/kube-types'

const HOST = String.raw`(?:\[[0-9a-fA-F:]+\]|[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?)(?::[0-9]+)?/`
const PART = `[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*`

/** Image reference as a container runtime parses it: host, path, tag and digest. */
const IMAGE_REFERENCE = new RegExp(
  String.raw`^(?:${HOST})?${PART}(?:/${PART})*(?::[\w][\w.-]{0,127})?(?:@[A-Za-z][\w+.-]*:[0-9a-fA-F]{32,})?$`,
)

/** Planned manifests, in place of the objects of the cluster. Absent members keep the cluster's object. */
export interface Manifests {
  readonly daemonSet?: Pick<DaemonSet, 'spec'>
  readonly rollout?: Pick<Rollout, 'spec'> & { readonly metadata: Pick<Rollout['metadata'], 'annotations'> }
  readonly policy?: Pick<ReleasePolicy, 'spec'> & { readonly metadata: Pick<ReleasePolicy['metadata'], 'name'> }
  /** ConfigMaps and Secrets of the namespace that are immutable. @default none */
  readonly immutable?: readonly ConfigObject[]
}

/**
 * DaemonSet after the planned change; the one of the snapshot without a change.
 *
 * @throws AppError FORECAST_INVALID when the image names no container of the DaemonSet, or the manifest does not have the shape of a
 *   DaemonSet
 */
export function plannedDaemonSet(daemonSet: DaemonSet, { image }: ForecastRequest, manifests: Manifests): DaemonSet {
  const applied = manifests.daemonSet === undefined ? daemonSet : withManifest(daemonSet, manifests.daemonSet)
  if (image === undefined) return applied
  const template = withImage(applied.spec.template, image)
  return { ...applied, spec: { ...applied.spec, template } }
}

/** Fields absent from the manifest stay. The strategy type also stays, because the controller would restore it during a release. */
function withManifest(daemonSet: DaemonSet, { spec }: Pick<DaemonSet, 'spec'>): DaemonSet {
  checkShape(spec)
  const { type, ...strategy } = { ...daemonSet.spec.updateStrategy, ...spec.updateStrategy }
  const kept = daemonSet.spec.updateStrategy?.type ?? type
  const updateStrategy = { ...strategy, ...(kept !== undefined && { type: kept }) }
  return { ...daemonSet, spec: { ...daemonSet.spec, ...spec, updateStrategy } }
}

/** Checks the fields read here, before the copy's API server validates the rest. */
function checkShape(spec: DaemonSet['spec'] | null | undefined): void {
  requireObject('spec', spec)
  if ('template' in spec) requireObject('spec.template', spec.template)
  // null requests the server's default.
  if (spec.updateStrategy !== undefined && spec.updateStrategy !== null) requireObject('spec.updateStrategy', spec.updateStrategy)
}

function requireObject(field: string, value: unknown): asserts value is object {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return
  throw new AppError(
    'FORECAST_INVALID',
    `DaemonSet: ${field} is ${value === undefined ? 'missing' : JSON.stringify(value)}; it must be an object`,
    {
      hint: `Write ${field} as kubectl get daemonset -o yaml prints it.`,
    },
  )
}

function withImage(template: PodTemplate, text: string): PodTemplate {
  const containers = template.spec?.containers ?? []
  const names = containers.map(({ name }) => name)
  const [first, rest] = splitOnce(text)
  const name = rest === undefined ? (names.length === 1 ? names[0] : undefined) : first
  const image = rest ?? first
  if (name === undefined || !names.includes(name) || image === '') {
    throw new AppError(
      'FORECAST_INVALID',
      `image: ${JSON.stringify(text)} is not a container of the DaemonSet, which has ${listed(names)}`,
      {
        hint: `Write CONTAINER=IMAGE, such as ${names[0] ?? 'agent'}=registry.example/agent:v2.`,
      },
    )
  }
  requireReference(image)
  return {
    ...template,
    spec: { ...template.spec, containers: containers.map((one) => (one.name === name ? { ...one, image } : one)) },
  }
}

/** A kubelet rejects an invalid image with `InvalidImageName`; the API server rejects leading and trailing blanks. */
function requireReference(image: string): void {
  if (IMAGE_REFERENCE.test(image) || image.trim() !== image) return
  throw new AppError('FORECAST_INVALID', `image: ${JSON.stringify(image)} is not a valid image name`, {
    hint: 'Write [HOST/]NAME[:TAG][@DIGEST], the name in lower case, such as registry.example/agent:v2.',
  })
}

function splitOnce(text: string): readonly [string, string?] {
  const at = text.indexOf('=')
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ')
}

/** Snapshot with Rollout and policy from the manifests; their status stays. */
export function withPlannedRules(snapshot: ClusterSnapshot, { rollout, policy }: Manifests): ClusterSnapshot {
  return {
    ...snapshot,
    rollout: rollout === undefined ? snapshot.rollout : plannedRollout(snapshot.rollout, rollout),
    policy: policy === undefined ? snapshot.policy : plannedPolicy(snapshot, policy),
  }
}

function plannedRollout(live: Rollout, { metadata, spec }: NonNullable<Manifests['rollout']>): Rollout {
  const annotations = { ...live.metadata.annotations, ...metadata.annotations }
  return { ...live, spec, metadata: { ...live.metadata, annotations, generation: (live.metadata.generation ?? 1) + 1 } }
}

/** A policy whose name differs from the current one's is new. */
function plannedPolicy(
  { rollout, policy }: ClusterSnapshot,
  { metadata: { name }, spec }: NonNullable<Manifests['policy']>,
): ReleasePolicy {
  if (policy?.metadata.name === name)
    return { ...policy, spec, metadata: { ...policy.metadata, generation: (policy.metadata.generation ?? 1) + 1 } }
  const { namespace = 'default' } = rollout.metadata
  return { metadata: { name, namespace, uid: `forecast-${name}`, resourceVersion: '1', generation: 1 }, spec }
}
