import { helperManifest, pulledImages } from '@tranche/pre-pull'
import { describe, expect, it } from 'vitest'

const agent = { name: 'agent', image: 'registry.example/agent:v2', imagePullPolicy: 'IfNotPresent' }

function manifestOf(spec: object, fields: object = {}): NonNullable<ReturnType<typeof helperManifest>> {
  const target = {
    ...{ daemonSet: { namespace: 'demo', name: 'node-agent' }, template: { spec }, revision: 'abc' },
    ...{ release: { name: 'node-agent', uid: 'release-1' }, seenAt: '7', node: 'node-7', ...fields },
  }
  const manifest = helperManifest(target)
  if (manifest === null) throw new Error('there is nothing to pull')
  return manifest
}

describe('the images of a template', () => {
  it.each<[sentence: string, spec: object, images: readonly string[]]>([
    ['are those of all containers', { containers: [agent, { name: 'b', image: 'b:1' }] }, ['registry.example/agent:v2', 'b:1']],
    [
      'begin with those of init containers',
      { containers: [agent], initContainers: [{ image: 'i:1' }] },
      ['i:1', 'registry.example/agent:v2'],
    ],
    ['count once each', { containers: [agent, { ...agent, name: 'b' }] }, ['registry.example/agent:v2']],
    [
      'are without those that are never pulled',
      { containers: [agent, { image: 'n:1', imagePullPolicy: 'Never' }] },
      ['registry.example/agent:v2'],
    ],
    ['are none without containers', {}, []],
    ['are none where the containers are null', { containers: null, initContainers: null }, []],
  ])('%s', (_sentence, spec, images) => {
    expect(pulledImages({ spec }).map(({ image }) => image)).toEqual(images)
  })

  it('are pulled always if one container asks for that', () => {
    const spec = { containers: [agent, { ...agent, imagePullPolicy: 'Always' }, agent] }
    expect(pulledImages({ spec })).toEqual([{ image: agent.image, policy: 'Always' }])
  })
})

describe('a helper pod', () => {
  it('is bound to its node, owned by the release, and labelled with the revision', () => {
    const { metadata, spec } = manifestOf({ containers: [agent] })
    expect(spec['nodeName']).toBe('node-7')
    expect(metadata).toMatchObject({ namespace: 'demo', labels: { 'tranche.dev/pre-pull': 'abc' } })
    expect(metadata.ownerReferences).toEqual([
      {
        ...{ apiVersion: 'rollouts.kruise.io/v1beta1', kind: 'BatchRelease', name: 'node-agent', uid: 'release-1' },
        ...{ controller: true, blockOwnerDeletion: false },
      },
    ])
  })

  it('runs nothing: its containers must not run as root and would, and their command exists in no image', () => {
    const { spec } = manifestOf({ containers: [agent, { image: 'b:1' }] })
    expect(spec['containers']).toMatchObject(
      [agent.image, 'b:1'].map((image) => ({
        image,
        command: ['/tranche.dev/only-pulls-images'],
        securityContext: { runAsNonRoot: true, runAsUser: 0, allowPrivilegeEscalation: false },
      })),
    )
  })

  it('has no volumes, no token and no environment of the template', () => {
    const spec = {
      containers: [{ ...agent, env: [{ name: 'a', value: 'b' }], volumeMounts: [{}], securityContext: { privileged: true } }],
      volumes: [{ name: 'host', hostPath: { path: '/' } }],
      hostPID: true,
    }
    const text = JSON.stringify(manifestOf(spec))
    expect(text).not.toMatch(/volume|hostPath|hostPID|"env"|privileged/)
    expect(manifestOf(spec).spec['automountServiceAccountToken']).toBe(false)
  })

  it('pulls as the new pod would: with its secrets, its account, its runtime class and its network', () => {
    const pulling = { imagePullSecrets: [{ name: 'key' }], serviceAccountName: 'agent', runtimeClassName: 'kata', hostNetwork: true }
    expect(manifestOf({ containers: [agent], ...pulling }).spec).toMatchObject(pulling)
  })

  it('has the network of the node only if the template has it', () => {
    expect(manifestOf({ containers: [agent] }).spec).not.toHaveProperty('hostNetwork')
  })

  it('tolerates every taint, and ends at once when it is deleted', () => {
    const { spec } = manifestOf({ containers: [agent] })
    expect(spec).toMatchObject({ tolerations: [{ operator: 'Exists' }], terminationGracePeriodSeconds: 0, restartPolicy: 'Never' })
  })

  it('requests nothing, and says so for quotas', () => {
    const limits = { cpu: '0', memory: '0' }
    const requests = { ...limits, 'ephemeral-storage': '0' }
    expect(manifestOf({ containers: [agent] }).spec['containers']).toMatchObject([{ resources: { requests, limits } }])
  })

  it('does not exist where there is nothing to pull', () => {
    const target = {
      daemonSet: { namespace: 'demo', name: 'a' },
      template: {},
      revision: 'a',
      release: { name: 'a', uid: 'b' },
      seenAt: '',
      node: 'c',
    }
    expect(helperManifest(target)).toBeNull()
  })
})

describe('the name of a helper pod', () => {
  const name = (fields: object = {}, spec: object = { containers: [agent] }): string => manifestOf(spec, fields).metadata.name

  it('is the same each time, so that two executors create one pod', () => {
    expect(name()).toBe(name())
  })

  it.each<[sentence: string, fields: object]>([
    ['node', { node: 'node-8' }],
    ['revision', { revision: 'def' }],
    ['release', { release: { name: 'node-agent', uid: 'release-2' } }],
  ])('is another one for another %s', (_sentence, fields) => {
    expect(name(fields)).not.toBe(name())
  })

  it.each(['a'.repeat(253), `${'a'.repeat(44)}.b`, 'a'])('is a valid name of a pod and a host: %s', (daemonSet) => {
    expect(name({ daemonSet: { namespace: 'demo', name: daemonSet } })).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)
    expect(name({ daemonSet: { namespace: 'demo', name: daemonSet } }).length).toBeLessThanOrEqual(63)
  })
})
