import type { Pod } from '@tranche/kube-types'
import { expect, it } from 'vitest'
import { livePodsOf } from './live-pods.ts'
import type { World } from './world.ts'

const pinned = 'ConfigMap/agent=agent-1,Secret/token=token-1'

function podOf(name: string, configMap: string, secret: string, pins = pinned): Pod {
  const envFrom = [{ configMapRef: { name: configMap, optional: true } }, { secretRef: { name: secret, optional: true } }]
  const metadata = { namespace: 'demo', name, uid: name, annotations: { 'tranche.dev/pinned-config': pins } }
  return { metadata, spec: { containers: [{ name: 'agent', envFrom }] } } as unknown as Pod
}

it('a person finds the pods that read a ConfigMap or Secret itself although their template names a copy', async () => {
  const items = [
    podOf('copies', 'agent-1', 'token-1'),
    podOf('own-config', 'agent', 'token-1'),
    podOf('own-secret', 'agent-1', 'token'),
    podOf('not-pinned', 'agent', 'token', ''),
  ]
  const people = { list: () => Promise.resolve({ items }) } as unknown as World['people']
  expect((await livePodsOf({ people })).map(({ metadata }) => metadata.name)).toEqual(['own-config', 'own-secret'])
})
