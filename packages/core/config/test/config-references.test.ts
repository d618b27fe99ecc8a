import { type ConfigReference, configReferences } from '@tranche/config'
import { describe, expect, it } from 'vitest'

const VOLUME = 'spec.template.spec.volumes[0]'
const CONTAINER = 'spec.template.spec.containers[0]'

const mounting = (volume: object, mount: object = {}, list = 'containers'): object => ({
  spec: {
    volumes: [{ name: 'v', ...volume }],
    [list]: [{ name: 'agent', volumeMounts: [{ name: 'v', mountPath: '/etc/agent', ...mount }] }],
  },
})
const reading = (container: object, list = 'containers'): object => ({ spec: { [list]: [{ name: 'agent', ...container }] } })

describe('config of a template', () => {
  it.each<[sentence: string, template: object, found: readonly ConfigReference[]]>([
    ['is nothing without references', reading({ image: 'agent:v1' }), []],
    [
      'is a ConfigMap in a volume, which running pods see',
      mounting({ configMap: { name: 'agent' } }),
      [{ kind: 'ConfigMap', name: 'agent', path: `${VOLUME}.configMap.name`, reach: 'running' }],
    ],
    [
      'is a Secret in a volume, even an optional one',
      mounting({ secret: { secretName: 'token', optional: true } }),
      [{ kind: 'Secret', name: 'token', path: `${VOLUME}.secret.secretName`, reach: 'running' }],
    ],
    [
      'is every source of a projected volume',
      mounting({ projected: { sources: [{ secret: { name: 'token' } }, { downwardAPI: {} }, { configMap: { name: 'agent' } }] } }),
      [
        { kind: 'Secret', name: 'token', path: `${VOLUME}.projected.sources[0].secret.name`, reach: 'running' },
        { kind: 'ConfigMap', name: 'agent', path: `${VOLUME}.projected.sources[2].configMap.name`, reach: 'running' },
      ],
    ],
    [
      'reaches a file of a subPath only with a restart',
      mounting({ configMap: { name: 'agent' } }, { subPath: 'agent.yaml' }),
      [{ kind: 'ConfigMap', name: 'agent', path: `${VOLUME}.configMap.name`, reach: 'restart' }],
    ],
    [
      'reaches a file of a subPathExpr only with a restart',
      mounting({ configMap: { name: 'agent' } }, { subPathExpr: '$(NODE).yaml' }),
      [{ kind: 'ConfigMap', name: 'agent', path: `${VOLUME}.configMap.name`, reach: 'restart' }],
    ],
    [
      'is the Secret that a CSI driver gets to publish a volume',
      mounting({ csi: { driver: 'secrets-store.csi.k8s.io', nodePublishSecretRef: { name: 'vault' } } }),
      [{ kind: 'Secret', name: 'vault', path: `${VOLUME}.csi.nodePublishSecretRef.name`, reach: 'restart' }],
    ],
    [
      'is what an environment takes as a whole',
      reading({ envFrom: [{ configMapRef: { name: 'agent' } }, { prefix: 'X_', secretRef: { name: 'token' } }] }),
      [
        { kind: 'ConfigMap', name: 'agent', path: `${CONTAINER}.envFrom[0].configMapRef.name`, reach: 'restart' },
        { kind: 'Secret', name: 'token', path: `${CONTAINER}.envFrom[1].secretRef.name`, reach: 'restart' },
      ],
    ],
    [
      'is what single variables take',
      reading({
        env: [
          { name: 'A', value: '1' },
          { name: 'B', valueFrom: { configMapKeyRef: { name: 'agent', key: 'b' } } },
          { name: 'C', valueFrom: { secretKeyRef: { name: 'token', key: 'c' } } },
        ],
      }),
      [
        { kind: 'ConfigMap', name: 'agent', path: `${CONTAINER}.env[1].valueFrom.configMapKeyRef.name`, reach: 'restart' },
        { kind: 'Secret', name: 'token', path: `${CONTAINER}.env[2].valueFrom.secretKeyRef.name`, reach: 'restart' },
      ],
    ],
    [
      'is what an init container reads',
      reading({ envFrom: [{ configMapRef: { name: 'agent' } }] }, 'initContainers'),
      [{ kind: 'ConfigMap', name: 'agent', path: 'spec.template.spec.initContainers[0].envFrom[0].configMapRef.name', reach: 'restart' }],
    ],
    [
      'is what an ephemeral container mounts',
      mounting({ configMap: { name: 'agent' } }, {}, 'ephemeralContainers'),
      [{ kind: 'ConfigMap', name: 'agent', path: `${VOLUME}.configMap.name`, reach: 'running' }],
    ],
    [
      'is listed once, and running pods see it if one reference lets them',
      {
        spec: {
          volumes: [
            { name: 'one', configMap: { name: 'agent' } },
            { name: 'all', configMap: { name: 'agent' } },
          ],
          containers: [{ volumeMounts: [{ name: 'one', subPath: 'x' }, { name: 'all' }], envFrom: [{ configMapRef: { name: 'agent' } }] }],
        },
      },
      [{ kind: 'ConfigMap', name: 'agent', path: `${VOLUME}.configMap.name`, reach: 'running' }],
    ],
    [
      'counts a ConfigMap and a Secret of the same name as two objects',
      reading({ envFrom: [{ configMapRef: { name: 'agent' } }, { secretRef: { name: 'agent' } }] }),
      [
        { kind: 'ConfigMap', name: 'agent', path: `${CONTAINER}.envFrom[0].configMapRef.name`, reach: 'restart' },
        { kind: 'Secret', name: 'agent', path: `${CONTAINER}.envFrom[1].secretRef.name`, reach: 'restart' },
      ],
    ],
    ['is not a pull secret', { spec: { imagePullSecrets: [{ name: 'registry' }], containers: [] } }, []],
    ['is not what the cluster writes into every namespace', mounting({ configMap: { name: 'kube-root-ca.crt' } }), []],
    [
      'is a Secret that has the name of such a ConfigMap',
      reading({ envFrom: [{ secretRef: { name: 'kube-root-ca.crt' } }] }),
      [{ kind: 'Secret', name: 'kube-root-ca.crt', path: `${CONTAINER}.envFrom[0].secretRef.name`, reach: 'restart' }],
    ],
  ])('%s', (_sentence, template, found) => {
    expect(configReferences(template)).toEqual(found)
  })

  it.each<[value: unknown]>([
    [undefined],
    [null],
    ['text'],
    [{ spec: 5 }],
    [{ spec: { volumes: {}, containers: 'x' } }],
    [
      {
        spec: {
          volumes: [null, { configMap: null }, { configMap: { name: 7 } }, { projected: { sources: 1 } }],
          containers: [null, { env: [1] }],
        },
      },
    ],
  ])('ignores what has the wrong type: %j', (value) => {
    expect(configReferences(value)).toEqual([])
  })
})
