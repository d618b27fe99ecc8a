import { describe, expect } from 'vitest'
import { causesOf, valueAt } from '../fixtures/body.ts'
import type { ConformanceTest } from '../fixtures/fixtures.ts'
import { configMap, daemonSet } from '../fixtures/objects.ts'
import { pathOf } from '../fixtures/paths.ts'

/** Defaults and validation of DaemonSets, their revisions, and ConfigMaps. */
export function describeWorkloads(it: ConformanceTest): void {
  describe('defaults of a DaemonSet', () => {
    it('fills in strategy, history limit and pod template', async ({ api, namespace }) => {
      const { body } = await api.post(pathOf.daemonSets(namespace), daemonSet('a'))
      expect(body['spec']).toMatchObject({
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
        revisionHistoryLimit: 10,
      })
      expect(valueAt(body, 'spec.minReadySeconds')).toBeUndefined()
      expect(valueAt(body, 'spec.template.spec')).toEqual({
        nodeSelector: { 'conformance.tranche.dev/node': 'none' },
        containers: [
          {
            name: 'main',
            image: 'main:v1',
            resources: {},
            terminationMessagePath: '/dev/termination-log',
            terminationMessagePolicy: 'File',
            imagePullPolicy: 'IfNotPresent',
          },
        ],
        restartPolicy: 'Always',
        terminationGracePeriodSeconds: 30,
        dnsPolicy: 'ClusterFirst',
        securityContext: {},
        schedulerName: 'default-scheduler',
      })
    })

    it('keeps a strategy OnDelete', async ({ api, namespace }) => {
      const { body } = await api.post(pathOf.daemonSets(namespace), daemonSet('a', { spec: { updateStrategy: { type: 'OnDelete' } } }))
      expect(valueAt(body, 'spec.updateStrategy')).toEqual({ type: 'OnDelete' })
    })

    it.for([
      { title: 'latest', image: 'main:latest', policy: 'Always' },
      { title: 'no tag', image: 'main', policy: 'Always' },
      { title: 'a tag', image: 'main:v1', policy: 'IfNotPresent' },
      { title: 'a digest', image: `main@sha256:${'a'.repeat(64)}`, policy: 'IfNotPresent' },
      { title: 'a port and no tag', image: 'localhost:5000/main', policy: 'Always' },
    ])('pulls an image with $title: $policy', async ({ image, policy }, { api, namespace }) => {
      const { body } = await api.post(pathOf.daemonSets(namespace), daemonSet('a', { podSpec: { containers: [{ name: 'main', image }] } }))
      expect(valueAt(body, 'spec.template.spec.containers.0.imagePullPolicy')).toBe(policy)
    })

    it('fills in ports and probes', async ({ api, namespace }) => {
      const containers = [{ name: 'main', image: 'main:v1', ports: [{ containerPort: 80 }], readinessProbe: { httpGet: { port: 80 } } }]
      const { body } = await api.post(pathOf.daemonSets(namespace), daemonSet('a', { podSpec: { containers, hostNetwork: true } }))
      expect(valueAt(body, 'spec.template.spec.containers.0')).toMatchObject({
        ports: [{ containerPort: 80, protocol: 'TCP' }],
        readinessProbe: {
          httpGet: { path: '/', port: 80, scheme: 'HTTP' },
          timeoutSeconds: 1,
          periodSeconds: 10,
          successThreshold: 1,
          failureThreshold: 3,
        },
      })
    })

    it('fills in volumes and requests', async ({ api, namespace }) => {
      const containers = [{ name: 'main', image: 'main:v1', resources: { limits: { cpu: '100m' } } }]
      const volumes = [{ name: 'a', configMap: { name: 'x' } }, { name: 'b', hostPath: { path: '/x' } }, { name: 'c' }]
      const { body } = await api.post(pathOf.daemonSets(namespace), daemonSet('a', { podSpec: { containers, volumes } }))
      expect(valueAt(body, 'spec.template.spec.volumes')).toEqual([
        { name: 'a', configMap: { name: 'x', defaultMode: 420 } },
        { name: 'b', hostPath: { path: '/x', type: '' } },
        { name: 'c', emptyDir: {} },
      ])
      expect(valueAt(body, 'spec.template.spec.containers.0.resources.limits')).toEqual({ cpu: '100m' })
    })

    it('keeps a given template generation', async ({ api, namespace }) => {
      const annotations = { 'deprecated.daemonset.template.generation': '7' }
      const { metadata } = await api.create(pathOf.daemonSets(namespace), daemonSet('a', { metadata: { annotations } }))
      expect(metadata.annotations).toEqual(annotations)
    })
  })

  describe('validation of a DaemonSet', () => {
    const strategy = (rollingUpdate: object): object => ({ spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate } } })
    const container = (more: object): object => ({ podSpec: { containers: [{ name: 'main', image: 'main:v1', ...more }] } })

    it.for([
      {
        title: 'labels that the selector does not match',
        change: { template: { metadata: { labels: { app: 'b' } } } },
        causes: ['FieldValueInvalid spec.template.metadata.labels'],
      },
      { title: 'an empty selector', change: { spec: { selector: {} } }, causes: ['FieldValueInvalid spec.selector'] },
      {
        title: 'a selector with an unknown operator',
        change: { spec: { selector: { matchLabels: { app: 'a' }, matchExpressions: [{ key: 'app', operator: 'Near' }] } } },
        causes: ['FieldValueInvalid spec.selector.matchExpressions[0].operator'],
      },
      {
        title: 'a selector In without values',
        change: { spec: { selector: { matchLabels: { app: 'a' }, matchExpressions: [{ key: 'app', operator: 'In' }] } } },
        causes: ['FieldValueRequired spec.selector.matchExpressions[0].values'],
      },
      {
        title: 'restartPolicy Never',
        change: { podSpec: { restartPolicy: 'Never' } },
        causes: ['FieldValueNotSupported spec.template.spec.restartPolicy'],
      },
      {
        title: 'activeDeadlineSeconds',
        change: { podSpec: { activeDeadlineSeconds: 5 } },
        causes: ['FieldValueForbidden spec.template.spec.activeDeadlineSeconds'],
      },
      { title: 'minReadySeconds below 0', change: { spec: { minReadySeconds: -1 } }, causes: ['FieldValueInvalid spec.minReadySeconds'] },
      {
        title: 'revisionHistoryLimit below 0',
        change: { spec: { revisionHistoryLimit: -1 } },
        causes: ['FieldValueInvalid spec.revisionHistoryLimit'],
      },
      {
        title: 'an unknown strategy',
        change: { spec: { updateStrategy: { type: 'Recreate' } } },
        causes: ['FieldValueNotSupported spec.updateStrategy'],
      },
      {
        title: 'maxUnavailable below 0',
        change: strategy({ maxUnavailable: -1 }),
        causes: ['FieldValueInvalid spec.updateStrategy.rollingUpdate.maxUnavailable'],
      },
      {
        title: 'maxUnavailable above 100%',
        change: strategy({ maxUnavailable: '101%' }),
        causes: ['FieldValueInvalid spec.updateStrategy.rollingUpdate.maxUnavailable'],
      },
      {
        title: 'maxUnavailable that is text',
        change: strategy({ maxUnavailable: 'some' }),
        causes: [
          'FieldValueInvalid spec.updateStrategy.rollingUpdate.maxUnavailable',
          'FieldValueRequired spec.updateStrategy.rollingUpdate.maxUnavailable',
        ],
      },
      {
        title: 'maxUnavailable 0 without surge',
        change: strategy({ maxUnavailable: 0 }),
        causes: ['FieldValueRequired spec.updateStrategy.rollingUpdate.maxUnavailable'],
      },
      {
        title: 'surge with maxUnavailable',
        change: strategy({ maxUnavailable: 1, maxSurge: 1 }),
        causes: ['FieldValueInvalid spec.updateStrategy.rollingUpdate.maxSurge'],
      },
      {
        title: 'surge above 100%',
        change: strategy({ maxUnavailable: 0, maxSurge: '101%' }),
        causes: ['FieldValueInvalid spec.updateStrategy.rollingUpdate.maxSurge'],
      },
      { title: 'no containers', change: { podSpec: { containers: [] } }, causes: ['FieldValueRequired spec.template.spec.containers'] },
      {
        title: 'a container without a name',
        change: container({ name: '' }),
        causes: ['FieldValueRequired spec.template.spec.containers[0].name'],
      },
      {
        title: 'a container name with a dot',
        change: container({ name: 'a.b' }),
        causes: ['FieldValueInvalid spec.template.spec.containers[0].name'],
      },
      {
        title: 'a container without an image',
        change: container({ image: '' }),
        causes: ['FieldValueRequired spec.template.spec.containers[0].image'],
      },
      {
        title: 'an unknown pull policy',
        change: container({ imagePullPolicy: 'Often' }),
        causes: ['FieldValueNotSupported spec.template.spec.containers[0].imagePullPolicy'],
      },
      {
        title: 'a port above 65535',
        change: container({ ports: [{ containerPort: 70_000 }] }),
        causes: ['FieldValueInvalid spec.template.spec.containers[0].ports[0].containerPort'],
      },
      {
        title: 'an environment variable without a name',
        change: container({ env: [{ value: 'x' }] }),
        causes: ['FieldValueRequired spec.template.spec.containers[0].env[0].name'],
      },
      {
        title: 'a mount of a missing volume',
        change: container({ volumeMounts: [{ name: 'v', mountPath: '/v' }] }),
        causes: ['FieldValueNotFound spec.template.spec.containers[0].volumeMounts[0].name'],
      },
      {
        title: 'a limit below the request',
        change: container({ resources: { limits: { cpu: '1' }, requests: { cpu: '2' } } }),
        causes: ['FieldValueInvalid spec.template.spec.containers[0].resources.requests'],
      },
      {
        title: 'a probe without a handler',
        change: container({ livenessProbe: {} }),
        causes: ['FieldValueRequired spec.template.spec.containers[0].livenessProbe'],
      },
      {
        title: 'two containers with the same name',
        change: { podSpec: { containers: ['x', 'y'].map((image) => ({ name: 'main', image })) } },
        causes: ['FieldValueDuplicate spec.template.spec.containers[1].name'],
      },
      {
        title: 'an unknown DNS policy',
        change: { podSpec: { dnsPolicy: 'None at all' } },
        causes: ['FieldValueNotSupported spec.template.spec.dnsPolicy'],
      },
      {
        title: 'two volumes with the same name',
        change: { podSpec: { volumes: [{ name: 'v' }, { name: 'v' }] } },
        causes: ['FieldValueDuplicate spec.template.spec.volumes[1].name'],
      },
      {
        title: 'a toleration with an unknown operator',
        change: { podSpec: { tolerations: [{ key: 'a', operator: 'Near' }] } },
        causes: ['FieldValueNotSupported spec.template.spec.tolerations[0].operator'],
      },
      {
        title: 'a toleration Exists with a value',
        change: { podSpec: { tolerations: [{ key: 'a', operator: 'Exists', value: 'x' }] } },
        causes: ['FieldValueInvalid spec.template.spec.tolerations[0].operator'],
      },
      {
        title: 'a node selector value with a space',
        change: { podSpec: { nodeSelector: { a: 'x y' } } },
        causes: ['FieldValueInvalid spec.template.spec.nodeSelector'],
      },
      {
        title: 'node affinity without terms',
        change: { podSpec: { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } } } },
        causes: [
          'FieldValueRequired spec.template.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms',
        ],
      },
    ])('refuses $title with 422, by its field', async ({ change, causes }, { api, namespace }) => {
      const answer = await api.post(pathOf.daemonSets(namespace), daemonSet('a', change))
      expect(answer.status, answer.text.slice(0, 500)).toBe(422)
      expect(answer.body).toMatchObject({ reason: 'Invalid', details: { name: 'a', group: 'apps', kind: 'DaemonSet' } })
      expect(causesOf(answer)).toEqual(causes)
    })

    it.for([
      {
        title: 'a missing selector',
        change: { spec: { selector: undefined } },
        causes: ['FieldValueInvalid spec.template.metadata.labels'],
      },
    ])('refuses $title', async ({ change, causes }, { api, namespace }) => {
      const answer = await api.post(pathOf.daemonSets(namespace), daemonSet('a', change))
      expect([answer.status, causesOf(answer)]).toEqual([422, expect.arrayContaining(causes)])
    })

    it.for([
      { title: 'a number for text', change: { podSpec: { dnsPolicy: 5 } } },
      { title: 'text for a number', change: { spec: { minReadySeconds: 'five' } } },
      { title: 'a map for a list', change: { podSpec: { containers: {} } } },
      { title: 'a fraction for a whole number', change: { spec: { minReadySeconds: 1.5 } } },
    ])('refuses $title with 400', async ({ change }, { api, namespace }) => {
      const answer = await api.post(pathOf.daemonSets(namespace), daemonSet('a', change))
      expect(answer).toMatchObject({ status: 400, body: { reason: 'BadRequest' } })
    })

    it('accepts a negative grace period with a warning', async ({ api, namespace }) => {
      const { status, headers } = await api.post(
        pathOf.daemonSets(namespace),
        daemonSet('a', { podSpec: { terminationGracePeriodSeconds: -1 } }),
      )
      expect(status).toBe(201)
      expect(headers['warning']).toContain(
        'spec.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1',
      )
    })

    it('accepts percentages', async ({ api, namespace }) => {
      const { status, body } = await api.post(pathOf.daemonSets(namespace), daemonSet('a', strategy({ maxUnavailable: '10%' })))
      expect([status, valueAt(body, 'spec.updateStrategy.rollingUpdate')]).toEqual([201, { maxUnavailable: '10%', maxSurge: 0 }])
    })
  })

  describe('a ControllerRevision', () => {
    const revision = (more: object = {}): object => ({ metadata: { name: 'a' }, revision: 1, data: { spec: {} }, ...more })

    it('accepts a new number, and no new data', async ({ api, namespace }) => {
      const path = pathOf.controllerRevisions(namespace, 'a')
      await api.create(pathOf.controllerRevisions(namespace), revision())
      expect(await api.patch(path, 'merge', { revision: 5 })).toMatchObject({ status: 200, body: { revision: 5 } })
      const answer = await api.patch(path, 'merge', { data: { spec: { more: 1 } } })
      expect([answer.status, causesOf(answer)]).toEqual([422, ['FieldValueInvalid data']])
    })

    it('refuses a negative number, and missing data', async ({ api, namespace }) => {
      const negative = await api.post(pathOf.controllerRevisions(namespace), revision({ revision: -1 }))
      expect([negative.status, causesOf(negative)]).toEqual([422, ['FieldValueInvalid revision']])
      const empty = await api.post(pathOf.controllerRevisions(namespace), revision({ data: undefined }))
      expect([empty.status, causesOf(empty)]).toEqual([422, ['FieldValueRequired data']])
    })
  })

  describe('a ConfigMap', () => {
    it.for([
      { title: 'a key with a slash', more: { data: { 'a/b': '' } }, causes: ['FieldValueInvalid data[a/b]'] },
      {
        title: 'a key in both data and binaryData',
        more: { data: { a: '' }, binaryData: { a: 'eA==' } },
        causes: ['FieldValueInvalid data[a]'],
      },
      { title: 'more than 1 MiB', more: { data: { a: 'x'.repeat(1_048_577) } }, causes: ['FieldValueTooLong []'] },
    ])('is refused for $title', async ({ more, causes }, { api, namespace }) => {
      const answer = await api.post(pathOf.configMaps(namespace), configMap('a', more))
      expect([answer.status, causesOf(answer)]).toEqual([422, causes])
    })
  })
}
