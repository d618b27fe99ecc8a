import { describe, expect, it } from 'vitest'
import { programs, render, type Rendered, type Values } from './chart.ts'

const distributed = { mode: 'distributed', redis: { url: 'redis://redis' } }
const sections = ['controller', 'executor', 'api'] as const

describe.skipIf(programs === null)('additions of the values', () => {
  it('reach the pods of one component only, beside what the chart sets', async () => {
    for (const section of sections) {
      const plain = podsOf(await render(distributed))
      const more = podsOf(await render({ ...distributed, [section]: additions }))
      expect(Object.keys(more)).toEqual(Object.keys(plain))
      for (const other of sections.filter((one) => one !== section)) expect(more[other]).toEqual(plain[other])
      const [pod, before] = [more[section]!, plain[section]!]
      const [own, ...others] = pod.containers
      const [ownBefore] = before.containers
      expect(own?.args).toEqual([...ownBefore!.args!, '--identity=one'])
      expect(own?.env).toEqual([...ownBefore!.env!, { name: 'HTTPS_PROXY', value: 'http://proxy.example:3128' }])
      expect(own?.volumeMounts).toEqual([...ownBefore!.volumeMounts!, { name: 'more', mountPath: '/etc/more' }])
      expect(pod.volumes).toEqual([...before.volumes, { name: 'more', emptyDir: {} }])
      expect(others.map(({ name }) => name)).toEqual(['proxy', 'free'])
      expect(pod.initContainers?.map(({ name }) => name)).toEqual(['wait'])
    }
  })

  it('keep the security context of the chart, unless a container has its own', async () => {
    const { controller } = podsOf(await render({ ...distributed, controller: additions }))
    const [own, proxy, free] = controller!.containers
    expect(own?.securityContext).toMatchObject({ readOnlyRootFilesystem: true })
    expect([proxy?.securityContext, controller!.initContainers?.[0]?.securityContext]).toEqual([own?.securityContext, own?.securityContext])
    expect(free?.securityContext).toEqual({ readOnlyRootFilesystem: false })
  })

  it('are objects, with their templates evaluated', async () => {
    const objects = await render({
      extraObjects: [
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { version: '{{ .Chart.AppVersion }}' } },
        'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: {{ .Release.Name }}-b }',
      ],
    })
    const added = objects.filter(({ kind }) => kind === 'ConfigMap') as readonly (Rendered & { readonly data?: object })[]
    expect(added.map(({ metadata, data }) => [metadata.name, data])).toEqual([
      ['a', { version: expect.stringMatching(/^\d+\.\d+\.\d+/) as string }],
      ['tranche-b', undefined],
    ])
  })

  it.each([
    ['ConfigMap', { configMap: 'cas', key: 'a.pem' }, { configMap: { name: 'cas' } }],
    [
      'Secret',
      { secret: 'cas', key: 'a.pem' },
      { secret: { secretName: 'cas', defaultMode: 288, items: [{ key: 'a.pem', path: 'a.pem' }] } },
    ],
  ])('include certificate authorities of a %s', async (_kind, trustedCAs, source) => {
    for (const pod of Object.values(podsOf(await render({ ...distributed, trustedCAs })))) {
      expect(pod.containers[0]?.env).toContainEqual({ name: 'NODE_EXTRA_CA_CERTS', value: '/etc/tranche/trusted-cas/a.pem' })
      expect(pod.containers[0]?.volumeMounts).toContainEqual({ name: 'trusted-cas', mountPath: '/etc/tranche/trusted-cas', readOnly: true })
      expect(pod.volumes).toContainEqual({ name: 'trusted-cas', ...source })
    }
  })

  it('place the pod of helm test on the nodes of the controller', async () => {
    const placed = { nodeSelector: { pool: 'system' }, tolerations: [{ key: 'system', operator: 'Exists' }] }
    for (const values of [{ allInOne: placed }, { ...distributed, controller: placed }] satisfies readonly Values[]) {
      const test = (await render(values)).find(({ kind }) => kind === 'Pod')
      expect(test?.spec).toMatchObject(placed)
    }
  })
})

const additions = {
  extraArgs: ['--identity=one'],
  extraEnv: [{ name: 'HTTPS_PROXY', value: 'http://proxy.example:3128' }],
  extraVolumes: [{ name: 'more', emptyDir: {} }],
  extraVolumeMounts: [{ name: 'more', mountPath: '/etc/more' }],
  extraContainers: [
    { name: 'proxy', image: 'proxy:1' },
    { name: 'free', image: 'free:1', securityContext: { readOnlyRootFilesystem: false } },
  ],
  initContainers: [{ name: 'wait', image: 'wait:1' }],
}

interface Container {
  readonly name: string
  readonly args?: readonly string[]
  readonly env?: readonly object[]
  readonly volumeMounts?: readonly object[]
  readonly securityContext?: object
}

interface PodSpec {
  readonly containers: readonly Container[]
  readonly initContainers?: readonly Container[]
  readonly volumes: readonly object[]
}

/** Pods of the Deployments, by component. */
function podsOf(objects: readonly Rendered[]): Readonly<Record<string, PodSpec>> {
  const deployments = objects.filter(({ kind }) => kind === 'Deployment')
  return Object.fromEntries(
    deployments.map(({ metadata, spec }) => [
      metadata.labels?.['app.kubernetes.io/component'] ?? '',
      (spec as unknown as { readonly template: { readonly spec: PodSpec } }).template.spec,
    ]),
  )
}
