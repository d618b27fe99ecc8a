import { describe, expect, it } from 'vitest'
import { resources } from '@tranche/sim-api'
import { aDaemonSet, aServer, at, refusal } from '../testing.ts'

const tester = { name: 'tester' }
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation'

describe('a DaemonSet', () => {
  it('is stored with its defaults', async () => {
    const created = await client().create(resources.daemonSets, aDaemonSet('agent'))
    expect(created['spec']).toEqual({
      selector: { matchLabels: { app: 'agent' } },
      template: {
        metadata: { labels: { app: 'agent' } },
        spec: {
          containers: [
            {
              name: 'main',
              image: 'agent:1',
              imagePullPolicy: 'IfNotPresent',
              resources: {},
              terminationMessagePath: '/dev/termination-log',
              terminationMessagePolicy: 'File',
            },
          ],
          restartPolicy: 'Always',
          terminationGracePeriodSeconds: 30,
          dnsPolicy: 'ClusterFirst',
          securityContext: {},
          schedulerName: 'default-scheduler',
        },
      },
      revisionHistoryLimit: 10,
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
    })
    expect(created.metadata).toMatchObject({ generation: 1, annotations: { [TEMPLATE_GENERATION]: '1' } })
  })

  it('counts template changes in both generations, other spec changes in one, and metadata in none', async () => {
    const api = client()
    await api.create(resources.daemonSets, aDaemonSet('agent'))
    const seen: unknown[] = []
    const patches = [
      { spec: { template: { metadata: { annotations: { a: 'b' } } } } },
      { spec: { minReadySeconds: 5 } },
      { metadata: { annotations: { [TEMPLATE_GENERATION]: '99', other: 'x' } } },
      { spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: null } } },
    ]
    for (const patch of patches) {
      const { metadata } = await api.patch(resources.daemonSets, 'agent', 'default', patch)
      seen.push([metadata.generation, metadata.annotations?.[TEMPLATE_GENERATION]])
    }
    expect(seen).toEqual([
      [2, '2'],
      [3, '2'],
      [3, '2'],
      [4, '2'],
    ])
  })

  it('drops the rollingUpdate parameters with OnDelete', async () => {
    const created = await client().create(resources.daemonSets, aDaemonSet('agent', { updateStrategy: { type: 'OnDelete' } }))
    expect(at(created, 'spec', 'updateStrategy')).toEqual({ type: 'OnDelete' })
  })

  const template = aDaemonSet('agent').spec.template
  const rolling = (rollingUpdate: object) => ({ updateStrategy: { type: 'RollingUpdate', rollingUpdate } })
  const podSpec = (spec: object) => ({ template: { ...template, spec: { ...template.spec, ...spec } } })
  const refused: Record<string, { spec: object; want: readonly (readonly [string, string])[] }> = {
    'refuses a selector that does not match the template': {
      spec: { selector: { matchLabels: { app: 'other' } } },
      want: [['spec.template.metadata.labels', 'FieldValueInvalid']],
    },
    'refuses a missing selector with the same words': {
      spec: { selector: undefined },
      want: [['spec.template.metadata.labels', 'FieldValueInvalid']],
    },
    'refuses an empty selector': { spec: { selector: {} }, want: [['spec.selector', 'FieldValueInvalid']] },
    'refuses In without values': {
      spec: { selector: { matchExpressions: [{ key: 'app', operator: 'In' }] } },
      want: [['spec.selector.matchExpressions[0].values', 'FieldValueRequired']],
    },
    'refuses another restart policy': {
      spec: podSpec({ restartPolicy: 'Never' }),
      want: [['spec.template.spec.restartPolicy', 'FieldValueNotSupported']],
    },
    'refuses activeDeadlineSeconds': {
      spec: podSpec({ activeDeadlineSeconds: 5 }),
      want: [['spec.template.spec.activeDeadlineSeconds', 'FieldValueForbidden']],
    },
    'refuses a template without containers': {
      spec: podSpec({ containers: [] }),
      want: [['spec.template.spec.containers', 'FieldValueRequired']],
    },
    'refuses a container without an image, and one with a duplicate name': {
      spec: podSpec({ containers: [{ name: 'a' }, { name: 'a', image: 'x' }] }),
      want: [
        ['spec.template.spec.containers[0].image', 'FieldValueRequired'],
        ['spec.template.spec.containers[1].name', 'FieldValueDuplicate'],
      ],
    },
    'refuses minReadySeconds below zero': { spec: { minReadySeconds: -1 }, want: [['spec.minReadySeconds', 'FieldValueInvalid']] },
    'refuses an unknown strategy': {
      spec: { updateStrategy: { type: 'Partition' } },
      want: [['spec.updateStrategy', 'FieldValueNotSupported']],
    },
    'refuses an invalid percentage': {
      spec: rolling({ maxUnavailable: 'half' }),
      want: [
        ['spec.updateStrategy.rollingUpdate.maxUnavailable', 'FieldValueInvalid'],
        ['spec.updateStrategy.rollingUpdate.maxUnavailable', 'FieldValueRequired'],
      ],
    },
    'refuses more than 100%': {
      spec: rolling({ maxUnavailable: '101%' }),
      want: [['spec.updateStrategy.rollingUpdate.maxUnavailable', 'FieldValueInvalid']],
    },
    'refuses a surge with maxUnavailable': {
      spec: rolling({ maxSurge: 1 }),
      want: [['spec.updateStrategy.rollingUpdate.maxSurge', 'FieldValueInvalid']],
    },
    'refuses a size of zero for both': {
      spec: rolling({ maxUnavailable: 0 }),
      want: [['spec.updateStrategy.rollingUpdate.maxUnavailable', 'FieldValueRequired']],
    },
  }
  for (const [name, { spec, want }] of Object.entries(refused))
    it(name, async () => {
      const error = await refusal(client().create(resources.daemonSets, aDaemonSet('agent', spec)))
      expect([error.code, error.status.reason]).toEqual([422, 'Invalid'])
      expect(error.status.details?.causes?.map((cause) => [cause.field, cause.reason])).toEqual(want)
    })

  it('names every cause in the message', async () => {
    const error = await refusal(
      client().create(resources.daemonSets, aDaemonSet('agent', { minReadySeconds: -1, revisionHistoryLimit: -2 })),
    )
    expect(error.message).toBe(
      'DaemonSet.apps "agent" is invalid: [spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0, spec.revisionHistoryLimit: Invalid value: -2: must be greater than or equal to 0]',
    )
  })

  it('keeps its selector, and its collision count never falls', async () => {
    const api = client()
    await api.create(resources.daemonSets, aDaemonSet('agent'))
    const selector = { matchLabels: { app: 'agent', tier: 'x' } }
    const labels = { app: 'agent', tier: 'x' }
    const moved = await refusal(
      api.patch(resources.daemonSets, 'agent', 'default', { spec: { selector, template: { metadata: { labels } } } }),
    )
    expect(moved.status.details?.causes?.[0]).toMatchObject({
      field: 'spec.selector',
      message: expect.stringContaining('field is immutable'),
    })
    await api.patch(resources.daemonSets, 'agent', 'default', { status: { collisionCount: 2 } }, 'status')
    expect((await refusal(api.patch(resources.daemonSets, 'agent', 'default', { status: { collisionCount: 1 } }, 'status'))).code).toBe(422)
  })
})

function client() {
  return aServer().server.clientFor(tester)
}
