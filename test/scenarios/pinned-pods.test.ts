import { podPolicy } from '@tranche/admission'
import { VirtualClock } from '@tranche/clock'
import { parsePins, PINNED_CONFIG_ANNOTATION, pinPatch } from '@tranche/config'
import { createSimulator, type Simulator } from '@tranche/sim'
import { resources } from '@tranche/sim-api'
import { applyPatch } from '@tranche/testing'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { policyIds } from './admission.ts'

const NAMES = ['agent', 'token', 'other']
const PINS = 'ConfigMap/agent=agent-9f86d081884c7d65,Secret/agent=agent-1111111111111111,Secret/token=token-2222222222222222'

let simulator: Simulator
let count = 0
beforeAll(async () => {
  simulator = createSimulator({ clock: new VirtualClock(), nodes: 1 })
  const helm = simulator.clientFor({ name: 'helm' })
  for (const object of podPolicy) await helm.create(policyIds[object.kind]!, object)
})

describe('a pod of a DaemonSet that is created', () => {
  it('names the copies in its annotation, at every place, as the patch of the core does', async () => {
    await fc.assert(
      fc.asyncProperty(specs, async (spec) => {
        expect(await created(spec, PINS)).toEqual(patched(spec))
      }),
      { numRuns: 60 },
    )
  })

  it.each<[sentence: string, pins: string | undefined, owners: readonly object[]]>([
    ['without the annotation', undefined, [daemonSet()]],
    ['with an annotation of another form', 'agent', [daemonSet()]],
    ['of another owner', PINS, [{ ...daemonSet(), kind: 'ReplicaSet' }]],
    ['without an owner', PINS, []],
  ])('stays as it is %s', async (_sentence, pins, owners) => {
    const spec = { containers: [{ name: 'c', image: 'agent', envFrom: [{ configMapRef: { name: 'agent' } }] }] }
    expect(await created(spec, pins, owners)).toEqual(spec)
  })
})

const reference = fc.constantFrom(...NAMES)
const entry = fc.oneof(
  reference.map((name) => ({ configMapRef: { name } })),
  reference.map((name) => ({ secretRef: { name } })),
)
const variable = fc.oneof(
  fc.constant({ value: 'agent' }),
  reference.map((name) => ({ valueFrom: { configMapKeyRef: { name, key: 'agent' } } })),
  reference.map((name) => ({ valueFrom: { secretKeyRef: { name, key: 'token' } } })),
)
const container = fc.record({ envFrom: fc.array(entry, { maxLength: 4 }), env: fc.array(variable, { maxLength: 4 }) })
const source = fc.oneof(
  reference.map((name) => ({ configMap: { name } })),
  reference.map((name) => ({ secret: { name } })),
  fc.constant({ downwardAPI: { items: [{ path: 'x', fieldRef: { fieldPath: 'metadata.name' } }] } }),
)
const volume = fc.oneof(
  reference.map((name) => ({ configMap: { name } })),
  reference.map((name) => ({ secret: { secretName: name } })),
  fc.array(source, { minLength: 1, maxLength: 4 }).map((sources) => ({ projected: { sources } })),
  reference.map((name) => ({ csi: { driver: 'vault', nodePublishSecretRef: { name } } })),
  fc.constant({ emptyDir: {} }),
)
const specs = fc
  .record({
    volumes: fc.array(volume, { maxLength: 6 }),
    initContainers: fc.array(container, { maxLength: 2 }),
    containers: fc.array(container, { minLength: 1, maxLength: 3 }),
  })
  .map(({ volumes, initContainers, containers }) => ({
    volumes: volumes.map((one, at) => ({ name: `v${at}`, ...one })),
    initContainers: initContainers.map((one, at) => named(one, `i${at}`)),
    containers: containers.map((one, at) => named(one, `c${at}`)),
  }))

function named({ env, envFrom }: { readonly env: readonly object[]; readonly envFrom: readonly object[] }, name: string): object {
  return { name, image: 'agent', envFrom, env: env.map((one, at) => ({ name: `E${at}`, ...one })) }
}

function patched(spec: object): object {
  return (applyPatch({ spec }, pinPatch(spec, parsePins(PINS))) as { readonly spec: object }).spec
}

/** @returns the spec that the API server stored, as far as it was sent */
async function created(spec: object, pins: string | undefined, ownerReferences: readonly object[] = [daemonSet()]): Promise<object> {
  const annotations = pins === undefined ? {} : { [PINNED_CONFIG_ANNOTATION]: pins }
  const metadata = { namespace: 'default', name: `pod-${++count}`, annotations, ownerReferences }
  const pod = await simulator
    .clientFor({ name: 'daemon-set-controller' })
    .create(resources.pods, { apiVersion: 'v1', kind: 'Pod', metadata, spec } as never)
  return partOf((pod as unknown as { readonly spec: unknown }).spec, spec) as object
}

/** Without the defaults of the API server. */
function partOf(stored: unknown, sent: unknown): unknown {
  if (Array.isArray(sent)) return sent.map((item, at) => partOf((stored as readonly unknown[] | undefined)?.[at], item))
  if (typeof sent !== 'object' || sent === null) return stored
  return Object.fromEntries(
    Object.entries(sent).map(([key, member]) => [key, partOf((stored as Record<string, unknown> | undefined)?.[key], member)]),
  )
}

function daemonSet(): object {
  return { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'd1', controller: true }
}
