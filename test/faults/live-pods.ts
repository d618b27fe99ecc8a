import { resourcePaths } from '@tranche/kube-client'
import type { Pod } from '@tranche/kube-types'
import { stageKey } from '../scenarios/stage-objects.ts'
import type { World } from './world.ts'

/** Pods that read config itself although their template names copies, as a person sees them: made while the policy for pods was missing. */
export async function livePodsOf({ people }: Pick<World, 'people'>): Promise<readonly Pod[]> {
  const { items } = await people.list<Pod>(resourcePaths.pods, { namespace: stageKey.namespace })
  return items.filter(({ metadata, spec }) => {
    const pins = metadata.annotations?.['tranche.dev/pinned-config'] ?? ''
    const text = JSON.stringify(spec)
    return pins.split(',').some((pin) => pin !== '' && text.includes(`"name":"${pin.slice(pin.indexOf('/') + 1, pin.indexOf('='))}"}`))
  })
}
