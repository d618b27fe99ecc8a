import type { ClusterSnapshot, ForecastRequest, ReleasePolicy, Rollout } from '@tranche/api-schema'
import { AppError } from '@tranche/errors'
import type { DaemonSet, PodTemplate } from '@tranche/kube-types'

const HOST = String.raw`(?:\[[0-9a-fA-F:]+\]|[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?)(?::[0-9]+)?/`
const PART = `[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*`

/** An image as a container runtime reads it: host, path, tag and digest. */
const IMAGE_REFERENCE = new RegExp(
  String.raw`^(?:${HOST})?${PART}(?:/${PART})*(?::[\w][\w.-]{0,127})?(?:@[A-Za-z][\w+.-]*:[0-9a-fA-F]{32,})?$`,
)

/** Objects as somebody would apply them, in place of those of the cluster; each only as far as it is given. */
export interface Manifests {
  readonly daemonSet?: Pick<DaemonSet, 'spec'>
  readonly rollout?: Pick<Rollout, 'spec'> & { readonly metadata: Pick<Rollout['metadata'], 'annotations'> }
  readonly policy?: Pick<ReleasePolicy, 'spec'> & { readonly metadata: Pick<ReleasePolicy['metadata'], 'name'> }
}

/**
 * The DaemonSet as the planned change leaves it; the one of the snapshot where nothing is to be changed.
 *
 * @throws AppError FORECAST_INVALID where the image names no container of the DaemonSet, or the manifest is not the shape of a DaemonSet
 */
export function plannedDaemonSet(daemonSet: DaemonSet, { image }: ForecastRequest, manifests: Manifests): DaemonSet {
  const applied = manifests.daemonSet === undefined ? daemonSet : withManifest(daemonSet, manifests.daemonSet)
  if (image === undefined) return applied
  const template = withImage(applied.spec.template, image)
  return { ...applied, spec: { ...applied.spec, template } }
}

/** What a manifest does not state stays. The type of the strategy is the release's: whoever is in charge puts it back. */
function withManifest(daemonSet: DaemonSet, { spec }: Pick<DaemonSet, 'spec'>): DaemonSet {
  checkShape(spec)
  const { type, ...strategy } = { ...daemonSet.spec.updateStrategy, ...spec.updateStrategy }
  const kept = daemonSet.spec.updateStrategy?.type ?? type
  const updateStrategy = { ...strategy, ...(kept !== undefined && { type: kept }) }
  return { ...daemonSet, spec: { ...daemonSet.spec, ...spec, updateStrategy } }
}

/** Checks what is read before the copy's API server sees the manifest; that server checks the rest. */
function checkShape(spec: DaemonSet['spec'] | null | undefined): void {
  requireObject('spec', spec)
  if ('template' in spec) requireObject('spec.template', spec.template)
  // null stands for the server's default.
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
      `image: ${JSON.stringify(text)} names no container of the DaemonSet, which has ${listed(names)}`,
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

/** A kubelet refuses another image with `InvalidImageName`; blanks at an end the API server rejects. */
function requireReference(image: string): void {
  if (IMAGE_REFERENCE.test(image) || image.trim() !== image) return
  throw new AppError('FORECAST_INVALID', `image: ${JSON.stringify(image)} is not the name of an image`, {
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

/** The snapshot with Rollout and policy as the manifests have them; their status stays. */
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

/** One of another name than the one in use is a new one. */
function plannedPolicy(
  { rollout, policy }: ClusterSnapshot,
  { metadata: { name }, spec }: NonNullable<Manifests['policy']>,
): ReleasePolicy {
  if (policy?.metadata.name === name)
    return { ...policy, spec, metadata: { ...policy.metadata, generation: (policy.metadata.generation ?? 1) + 1 } }
  const { namespace = 'default' } = rollout.metadata
  return { metadata: { name, namespace, uid: `forecast-${name}`, resourceVersion: '1', generation: 1 }, spec }
}
