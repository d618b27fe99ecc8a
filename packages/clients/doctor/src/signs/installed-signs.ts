import { type KubeObject, clipText } from '@tranche/kube-types'

/** Components of the chart that have pods. */
export const components = ['controller', 'executor', 'all-in-one', 'api'] as const
/** One component of the chart. */
export type Component = (typeof components)[number]

/** Maximum length of the arguments of a pod, in characters: those of a controller with a thousand namespaces. */
const MOST_ARGS = 64 * 1024
/** Maximum length of a version, and of the address of a Redis, in characters. */
const MOST_TEXT = 253
/** Maximum length of an image whose version is read: host, repository, tag and digest. */
const MOST_IMAGE = 1_024
/** Maximum length of a tag. */
const MOST_TAG = 128

/** Facts about the installation from a pod of the chart. */
export interface InstalledPod {
  readonly component: Component
  readonly namespace: string
  /** Name of its ServiceAccount. */
  readonly account: string
  /** Arguments of its container. */
  readonly args: readonly string[]
  /** Version from its image tag, else its label: `0.1.0`; null if unknown. */
  readonly version: string | null
  readonly isReady: boolean
  /** Its Redis; null if it uses none. */
  readonly redis: RedisOfPod | null
}

/** Source of the Redis address in a pod. */
export type RedisOfPod =
  | { readonly kind: 'url'; readonly url: string; readonly hasPassword: boolean }
  | { readonly kind: 'secret'; readonly namespace: string; readonly name: string; readonly key: string }

interface PodObject extends KubeObject {
  readonly spec?: { readonly serviceAccountName?: string; readonly containers?: readonly ContainerOfPod[] }
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

interface ContainerOfPod {
  readonly image?: string
  readonly args?: readonly string[]
  readonly env?: readonly EnvOfPod[]
}

interface EnvOfPod {
  readonly name: string
  readonly value?: string
  readonly valueFrom?: { readonly secretKeyRef?: { readonly name?: string; readonly key: string } }
}

/**
 * Every user who may create pods can give them the labels of the chart, so a pod may be large and contain anything.
 *
 * @returns the facts from a pod of the chart; null for a terminating pod, another component, or more arguments than the chart writes
 */
export function toInstalledPod(object: KubeObject): InstalledPod | null {
  const { metadata, spec, status } = object as PodObject
  const component = components.find((one) => one === metadata.labels?.['app.kubernetes.io/component'])
  const main = spec?.containers?.[0]
  if (component === undefined || main === undefined || metadata.deletionTimestamp !== undefined) return null
  const { namespace = '' } = metadata
  if ((main.args ?? []).reduce((sum, { length }) => sum + length, 0) > MOST_ARGS) return null
  return {
    ...{ component, namespace, account: spec?.serviceAccountName ?? 'default', args: main.args ?? [] },
    version: versionOf(main.image) ?? metadata.labels?.['app.kubernetes.io/version'] ?? null,
    isReady: status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') === true,
    redis: redisOf(main, namespace),
  }
}

/** Ignores tags that are not versions, and references that are longer than any registry accepts. Linear in the length of the image. */
function versionOf(image = ''): string | undefined {
  if (image.length > MOST_IMAGE) return undefined
  const reference = image.split('@', 1)[0] ?? ''
  const tag = reference.slice(reference.lastIndexOf(':') + 1)
  return tag.length > MOST_TAG ? undefined : /^v?(\d+\.\d+\.\d+(?:[-+.][\w.+-]*)?)$/.exec(tag)?.[1]
}

function redisOf({ args = [], env = [] }: ContainerOfPod, namespace: string): RedisOfPod | null {
  const argument = (name: string): string | undefined => args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3)
  const fromEnv = env.find(({ name }) => name === 'TRANCHE_REDIS_URL')
  const url = argument('redis') ?? fromEnv?.value
  if (url !== undefined) return { kind: 'url', url: clipText(url, MOST_TEXT), hasPassword: argument('redis-password-file') !== undefined }
  const secret = fromEnv?.valueFrom?.secretKeyRef
  return secret === undefined ? null : { kind: 'secret', namespace, name: secret.name ?? '', key: secret.key }
}
