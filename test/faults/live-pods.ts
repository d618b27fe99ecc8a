import { resourcePaths } from '@tranche/kube-client'
import type { Pod } from '@tranche/kube-types'
import { stageKey } from '../scenarios/stage-objects.ts'
import type { World } from './world.ts'

/** @see core/v1 EnvFromSource */
interface EnvFrom {
  readonly configMapRef?: { readonly name: string }
  readonly secretRef?: { readonly name: string }
}

/** Names of the ConfigMaps and of the Secrets that a pod reads: the plain ones, or their copies. */
export function configNamesIn({ spec }: Pod): Readonly<Record<'config' | 'secret', readonly string[]>> {
  const { containers } = spec as unknown as { readonly containers: readonly { readonly envFrom?: readonly EnvFrom[] }[] }
  const read = containers.flatMap(({ envFrom = [] }) => envFrom)
  return {
    config: read.flatMap(({ configMapRef }) => configMapRef?.name ?? []),
    secret: read.flatMap(({ secretRef }) => secretRef?.name ?? []),
  }
}

/** Pods that read config itself although their template names copies, as a person sees them: made while the policy for pods was missing. */
export async function livePodsOf({ people }: Pick<World, 'people'>): Promise<readonly Pod[]> {
  const { items } = await people.list<Pod>(resourcePaths.pods, { namespace: stageKey.namespace })
  return items.filter((pod) => {
    const pins = (pod.metadata.annotations?.['tranche.dev/pinned-config'] ?? '').split(',')
    const { config, secret } = configNamesIn(pod)
    const read = new Set([...config.map((name) => `ConfigMap/${name}`), ...secret.map((name) => `Secret/${name}`)])
    return pins.some((pin) => pin !== '' && read.has(pin.slice(0, pin.indexOf('='))))
  })
}
