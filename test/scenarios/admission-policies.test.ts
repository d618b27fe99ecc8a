import { type Admission, admitDaemonSet, admitRollout, admitRolloutStatus } from '@tranche/admission'
import type { Rollout } from '@tranche/api-schema'
import { type DaemonSet, daemonSetAnnotations, WORKLOAD_TYPE_LABEL } from '@tranche/kube-types'
import fc from 'fast-check'
import { applyPatch } from 'rfc6902'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AdmissionCluster, type Answer, startAdmissionCluster } from './admission-cluster.ts'

let cluster: AdmissionCluster

const sets = (): string => `/apis/apps/v1/namespaces/${cluster.namespace}/daemonsets`
const rollouts = (): string => `/apis/rollouts.kruise.io/v1beta1/namespaces/${cluster.namespace}/rollouts`

describe.each(['policy', 'webhook'] as const)('admission by %s', (way) => {
  beforeAll(async () => void (cluster = await startAdmissionCluster(way)), 120_000)
  afterAll(() => cluster.end())

  describe('for DaemonSets', () => {
    const keys = Object.values(daemonSetAnnotations)
    const values = fc.constantFrom('RollingUpdate', 'OnDelete', '{"rolloutName":"other"}', 'true')
    const annotations = fc.option(fc.dictionary(fc.constantFrom(...keys, 'example.com/owner'), values, { maxKeys: 6 }), { nil: undefined })
    const labels = fc.option(fc.dictionary(fc.constantFrom(WORKLOAD_TYPE_LABEL, 'team'), fc.constantFrom('daemonset', 'a')), {
      nil: undefined,
    })
    const traits = fc.record({
      annotations,
      labels,
      type: fc.constantFrom('RollingUpdate', 'OnDelete', undefined),
      image: fc.constantFrom('agent:1', 'agent:2'),
    })
    type Traits = typeof traits extends fc.Arbitrary<infer T> ? T : never

    function manifest({ annotations: keyed, labels: labelled, type, image }: Traits, isBound: boolean): object {
      const bound = isBound && {
        annotations: { ...keyed, 'tranche.dev/rollout': 'agent' },
        labels: { ...labelled, [WORKLOAD_TYPE_LABEL]: 'daemonset' },
      }
      return {
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        metadata: { name: 'agent', ...(keyed && { annotations: keyed }), ...(labelled && { labels: labelled }), ...bound },
        spec: {
          selector: { matchLabels: { app: 'agent' } },
          ...(type && { updateStrategy: { type } }),
          template: {
            metadata: { labels: { app: 'agent' } },
            spec: { nodeSelector: { none: 'none' }, containers: [{ name: 'agent', image }] },
          },
        },
      }
    }

    it('changes every update as the decision function does (G11)', async () => {
      const before: Traits = { annotations: undefined, labels: undefined, type: undefined, image: 'agent:1' }
      await cluster.send('POST', sets(), manifest(before, false))
      await fc.assert(
        fc.asyncProperty(traits, traits, fc.boolean(), async (old, sent, isOurs) => {
          const stored = await cluster.send('PUT', `${sets()}/agent`, manifest(old, true), 'tranche-controller')
          expect(stored.status).toBe(200)
          const manager = isOurs ? 'tranche-controller' : 'kubectl'
          const { status, body } = await cluster.send('PUT', `${sets()}/agent`, manifest(sent, false), manager)
          expect(status).toBe(200)
          expect(shapeOf(body)).toEqual(shapeOf(decided(stored.body, manifest(sent, false), manager)))
        }),
        { numRuns: 60, seed: 7 },
      )
    })

    it.each<[string, Partial<DaemonSet['metadata']>]>([
      ["lacks Tranche's label", { annotations: { 'tranche.dev/rollout': 'agent' } }],
      ['no Rollout is bound to', { labels: { [WORKLOAD_TYPE_LABEL]: 'daemonset' } }],
      ['has neither', {}],
    ])('does not touch a DaemonSet that %s', async (_, metadata) => {
      const own = manifest({ annotations: undefined, labels: undefined, type: undefined, image: 'agent:1' }, false) as DaemonSet
      const named = { ...own, metadata: { ...metadata, name: 'unbound' } }
      await cluster.send('POST', sets(), named)
      const template = { spec: { containers: [{ name: 'agent', image: 'agent:2' }] } }
      const { body } = await cluster.send('PATCH', `${sets()}/unbound`, { spec: { template } })
      expect([shapeOf(body).type, shapeOf(body).annotations]).toEqual(['RollingUpdate', metadata.annotations ?? {}])
      await cluster.send('DELETE', `${sets()}/unbound`)
    })

    function decided(oldObject: DaemonSet, sent: object, fieldManager: string): DaemonSet {
      const next = structuredClone({ ...(sent as DaemonSet) }) as {
        spec: { updateStrategy?: { type?: string }; template?: unknown }
      } & DaemonSet
      const asStored = { ...next, spec: { ...next.spec, updateStrategy: { type: 'RollingUpdate', ...next.spec.updateStrategy } } }
      const template = imageOf(next) === imageOf(oldObject) ? oldObject.spec.template : next.spec.template
      const newObject = { ...asStored, spec: { ...asStored.spec, template } } as DaemonSet
      const admission = admitDaemonSet({ operation: 'UPDATE', oldObject, newObject, rollout: rollout(), fieldManager })
      if (admission.kind === 'patch') applyPatch(newObject, [...admission.patch])
      return newObject
    }
  })

  describe('for Rollouts', () => {
    const sizes = fc.constantFrom<unknown>(0, 1, 5, -1, '0%', '5%', '100%', '101%', '007%', '1%%', '20', '', undefined)
    const step = fc
      .record({ replicas: sizes, pause: fc.constantFrom(undefined, {}, { duration: 5 }, { duration: -5 }) })
      .map((drawn) => JSON.parse(JSON.stringify(drawn)) as object)
    const canary = fc.record(
      {
        steps: fc.array(step, { maxLength: 3 }),
        failureThreshold: fc.constantFrom<unknown>(0, 3, -1, '0%', '50%', '101%', 'x'),
        trafficRoutingRef: fc.constantFrom('', 'a'),
        trafficRoutings: fc.constantFrom([], [{ service: 'a' }]),
        patchPodTemplateMetadata: fc.constant({ labels: {} }),
      },
      { requiredKeys: ['steps'] },
    )
    const keys = fc.record(
      {
        'tranche.dev/on-delete': fc.constantFrom('Freeze', 'Complete', 'freeze', ''),
        'tranche.dev/release-policy': fc.constantFrom('slow', 'a.b', 'Slow', '-a', ''),
        'rollouts.kruise.io/rollback-in-batch': fc.constantFrom('true', 'false', 'yes'),
        other: fc.constant('x'),
      },
      { requiredKeys: [] },
    )
    const refs = fc.oneof(
      { weight: 8, arbitrary: fc.constant({ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' }) },
      fc.record({
        apiVersion: fc.constantFrom('apps/v1', 'apps/v1beta1', 'apps.kruise.io/v1alpha1'),
        kind: fc.constantFrom('DaemonSet', 'Deployment'),
        name: fc.constantFrom('agent', 'Agent', '', 'a..b'),
      }),
    )

    it('rejects what the decision function rejects, and warns where it warns', async () => {
      await fc.assert(
        fc.asyncProperty(canary, keys, refs, async (drawn, annotations, workloadRef) => {
          const sent = rollout({ annotations }, { workloadRef, strategy: { canary: drawn as never } })
          const answer = await cluster.send('POST', rollouts(), typed(sent))
          await cluster.send('DELETE', `${rollouts()}/agent`)
          expect({ sent, ...verdictOf(answer) }).toEqual({ sent, ...verdictOfDecision(create(sent), answer) })
        }),
        { numRuns: 60, seed: 7 },
      )
    })

    it.each<[string, Partial<Rollout['spec']>, RegExp]>([
      [
        'a step that asks for traffic',
        steps({ replicas: 1 }, { replicas: 2, traffic: '5%' }),
        /steps\[1\]\.traffic.*: traffic to DaemonSet pods .* cannot be routed by revision; remove it$/,
      ],
      ['headers', steps({ replicas: 1, requestHeaderModifier: { set: [] } }), /steps\[0\]\.requestHeaderModifier/],
      ['matches', steps({ replicas: 1, matches: [] }), /steps\[0\]\.matches/],
      [
        'no size',
        steps({ replicas: 1 }, {}),
        /steps\[1\]\.replicas.*: a step must state how many nodes are updated when it ends; set it to/,
      ],
      [
        'sizes that shrink',
        steps({ replicas: '50%' }, { replicas: '20%' }),
        /50%.*20%.*sizes are cumulative and must not shrink|20%.*sizes are cumulative and must not shrink.*50%/,
      ],
    ])('rejects %s', async (_, spec, says) => {
      const answer = await cluster.send('POST', rollouts(), typed(rollout({}, spec)))
      expect([answer.status, answer.body.message]).toEqual([422, expect.stringMatching(says)])
    })

    it('accepts shrinking sizes where steps choose different nodes', async () => {
      const spec = steps({ nodes: { matchLabels: { zone: 'a' } }, replicas: '50%' }, { replicas: '20%' })
      expect(await cluster.send('POST', rollouts(), typed(rollout({ name: 'chosen' }, spec)))).toMatchObject({ status: 201 })
      await cluster.send('DELETE', `${rollouts()}/chosen`)
    })

    describe('during a release', () => {
      const path = (): string => `${rollouts()}/agent`
      const status = {
        phase: 'Progressing',
        stableRevision: 'a',
        currentStepIndex: 1,
        currentStepState: 'StepPaused',
        canaryStatus: {
          currentStepIndex: 1,
          currentStepState: 'StepPaused',
          nextStepIndex: 2,
          message: 'm',
          podTemplateHash: 'b',
          canaryRevision: 'b',
          canaryReplicas: 1,
          canaryReadyReplicas: 1,
          finalisingStep: '',
        },
      }
      beforeAll(async () => {
        await cluster.send('POST', rollouts(), typed(rollout()))
        expect(await cluster.send('PATCH', `${path()}/status`, { status }, 'tranche-controller')).toMatchObject({ status: 200 })
      })
      afterAll(async () => void (await cluster.send('DELETE', path())))

      it.each<[string, object, number]>([
        ['the number of its steps', { spec: steps({ replicas: '100%' }) }, 422],
        ['its workload', { spec: { workloadRef: { name: 'other' } } }, 422],
        ['its workload to one of an unsupported kind', { spec: { workloadRef: { kind: 'Deployment' } } }, 422],
        ['a size', { spec: steps({ replicas: '20%' }, { replicas: '100%' }) }, 200],
        ['a label', { metadata: { labels: { a: 'b' } } }, 200],
      ])('decides about a change of %s', async (_, patch, code) => {
        expect((await cluster.send('PATCH', `${path()}`, patch)).status).toBe(code)
      })

      it.each<[string, object]>([
        ['an approval', { canaryStatus: { currentStepState: 'StepReady' } }],
        ['a jump', { canaryStatus: { nextStepIndex: 1 } }],
        ['a jump to nowhere', { canaryStatus: { nextStepIndex: 7 } }],
        ['another state', { canaryStatus: { currentStepState: 'Completed' } }],
        ['a message', { message: 'mine' }],
        ['a message of the canary', { canaryStatus: { message: 'mine' } }],
        ['no canary status', { canaryStatus: null }],
        ['no message of the canary', { canaryStatus: { message: null } }],
        ['another phase', { phase: 'Healthy' }],
      ])('lets users write %s into the status, or not, as the decision function does', async (_, change) => {
        const { body: oldObject } = await cluster.send('GET', path())
        const answer = await cluster.send('PATCH', `${path()}/status`, { status: change })
        const newObject = { ...oldObject, status: merged(oldObject.status, change) } as Rollout
        const decision = admitRolloutStatus({ oldObject, newObject })
        expect(answer.status).toBe(decision.kind === 'deny' ? 422 : 200)
        await cluster.send('PATCH', `${path()}/status`, { status }, 'tranche-controller')
      })
    })
  })
})

function steps(...own: readonly object[]): Partial<Rollout['spec']> {
  return { strategy: { canary: { steps: own as never } } }
}

function rollout(metadata: Partial<Rollout['metadata']> = {}, spec: Partial<Rollout['spec']> = {}): Rollout {
  return {
    metadata: { name: 'agent', namespace: cluster?.namespace ?? 'default', uid: 'r', resourceVersion: '1', ...metadata },
    spec: {
      workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' },
      strategy: { canary: { steps: [{ replicas: '10%', pause: {} }, { replicas: '100%' }] } },
      ...spec,
    },
  }
}

function typed({ metadata: { name, annotations }, spec }: Rollout): object {
  return { apiVersion: 'rollouts.kruise.io/v1beta1', kind: 'Rollout', metadata: { name, ...(annotations && { annotations }) }, spec }
}

function create(newObject: Rollout): Admission {
  return admitRollout({ operation: 'CREATE', oldObject: null, newObject, others: [] })
}

function verdictOf({ status, warning }: Answer): object {
  return status === 201 ? { isTaken: true, warns: warning !== undefined } : { isTaken: false }
}

/** The decision function leaves to the schema what the schema rejects. */
function verdictOfDecision(decision: Admission, { body }: Answer): object {
  const bySchema = !body.message?.startsWith('admission webhook') && body.details?.causes?.some(({ field }) => field !== undefined) === true
  return decision.kind === 'deny' || bySchema ? { isTaken: false } : { isTaken: true, warns: decision.warnings.length > 0 }
}

function shapeOf({ metadata, spec }: DaemonSet) {
  const { 'deprecated.daemonset.template.generation': _count, ...annotations } = metadata.annotations ?? {}
  return { annotations, labels: metadata.labels ?? {}, type: spec.updateStrategy?.type }
}

function imageOf({ spec }: DaemonSet): string | undefined {
  return (spec.template as { readonly spec?: { readonly containers?: readonly { readonly image?: string }[] } }).spec?.containers?.[0]
    ?.image
}

/** @see RFC 7396 */
function merged(target: unknown, change: unknown): unknown {
  if (typeof change !== 'object' || change === null) return change
  const next: Record<string, unknown> = { ...(target as object) }
  for (const [key, value] of Object.entries(change))
    if (value === null) delete next[key]
    else next[key] = merged(next[key], value)
  return next
}
