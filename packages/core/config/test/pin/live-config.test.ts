import { expect, it } from 'vitest'
import { liveConfigIn } from '../../src/pin/live-config.ts'

const PINS = 'ConfigMap/agent=agent-1111111111111111,ConfigMap/agent-1111111111111111=agent-2222222222222222,Secret/token=token-1'

it.each<[sentence: string, pod: Parameters<typeof liveConfigIn>[0], live: string | undefined]>([
  ['without the annotation reads what its template names', pod(undefined, envFrom('agent')), undefined],
  ['that names a copy in a variable reads no live config', pod(PINS, envFrom('agent-1111111111111111')), undefined],
  ['that names the object in a variable reads it live', pod(PINS, envFrom('agent')), 'ConfigMap/agent'],
  ['of an init container reads it live too', pod(PINS, { initContainers: envFrom('agent').containers }), 'ConfigMap/agent'],
  ['that mounts the Secret reads it live', pod(PINS, { volumes: [{ name: 'v', secret: { secretName: 'token' } }] }), 'Secret/token'],
  ['with an object that has no copy reads it as ever', pod(PINS, envFrom('other')), undefined],
  ['whose CSI driver gets the Secret reads no live config', pod(PINS, { volumes: [csi('token')] }), undefined],
  ['to which a user adds a container reads no live config', pod(PINS, { ephemeralContainers: envFrom('agent').containers }), undefined],
])('a pod %s', (_sentence, one, live) => {
  expect(liveConfigIn(one)).toBe(live)
})

function pod(pins: string | undefined, spec: object): Parameters<typeof liveConfigIn>[0] {
  return { metadata: { ...(pins !== undefined && { annotations: { 'tranche.dev/pinned-config': pins } }) }, spec }
}

function envFrom(name: string): { readonly containers: readonly object[] } {
  return { containers: [{ name: 'agent', envFrom: [{ configMapRef: { name } }] }] }
}

function csi(name: string): object {
  return { name: 'v', csi: { driver: 'vault', nodePublishSecretRef: { name } } }
}
