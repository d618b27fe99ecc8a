import { globSync, readFileSync } from 'node:fs'
import { AppProject } from '@kubernetes-models/argo-cd/argoproj.io/v1alpha1/AppProject'
import { Application } from '@kubernetes-models/argo-cd/argoproj.io/v1alpha1/Application'
import { HelmRelease } from '@kubernetes-models/flux-cd/helm.toolkit.fluxcd.io/v2/HelmRelease'
import { Kustomization } from '@kubernetes-models/flux-cd/kustomize.toolkit.fluxcd.io/v1/Kustomization'
import { GitRepository } from '@kubernetes-models/flux-cd/source.toolkit.fluxcd.io/v1/GitRepository'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { actionNames } from './argo-cd.ts'
import { unknownFields } from './fields-of-types.ts'

interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly spec: Readonly<Record<string, unknown>>
}

interface ApplicationSpec {
  readonly project: string
  readonly destination: object
  readonly source?: Source
  readonly sources?: readonly Source[]
}

interface Source {
  readonly repoURL: string
}

/** Schemas of Argo CD and Flux, from packages that are generated from their definitions. */
const models: Readonly<Record<string, new (data: never) => { validate(): void }>> = {
  AppProject,
  Application,
  GitRepository,
  HelmRelease,
  Kustomization,
}

const manifests = globSync(['examples/gitops/repository/clusters/**/*.yaml', 'examples/gitops/vendor/*.yaml']).flatMap((path) =>
  parseAllDocuments(readFileSync(path, 'utf8')).map((document) => ({ path, manifest: document.toJS() as Manifest })),
)
const named = manifests.map(({ path, manifest }) => [`${manifest.kind} ${manifest.metadata.name} of ${path}`, manifest] as const)

describe('the manifests of the examples', () => {
  it('have every kind that the guides mention', () => {
    expect([...new Set(manifests.map(({ manifest }) => manifest.kind))].toSorted()).toEqual(Object.keys(models))
  })

  it.each(named)('match the schema of their tool: %s', (_name, manifest) => {
    expect(problemsOf(manifest)).toEqual([])
  })

  it.each<[string, string, (spec: Record<string, unknown>) => void, RegExp]>([
    ['an unknown field', 'Kustomization', (spec) => (spec['healthCheckExpr'] = []), /^spec.healthCheckExpr is no field/],
    [
      'an unknown nested field',
      'Application',
      (spec) => (spec['syncPolicy'] = { automated: { prun: true } }),
      /^spec.syncPolicy.automated.prun is no/,
    ],
    ['a value of another type', 'Application', (spec) => (spec['syncPolicy'] = { automated: { prune: 'yes' } }), /prune must be boolean/],
    ['a missing field', 'HelmRelease', (spec) => delete spec['interval'], /must have required property interval/],
  ])('would not match it with %s', (_what, kind, spoil, says) => {
    const { manifest } = structuredClone(manifests.find((one) => one.manifest.kind === kind)!)
    spoil(manifest.spec as Record<string, unknown>)
    expect(problemsOf(manifest)).toEqual([expect.stringMatching(says)])
  })
})

describe('the project of Argo CD', () => {
  const project = manifests.find(({ manifest }) => manifest.kind === 'AppProject')!.manifest
  const { destinations, sourceRepos, clusterResourceWhitelist, roles } = project.spec as {
    readonly destinations: readonly { readonly namespace: string }[]
    readonly sourceRepos: readonly string[]
    readonly clusterResourceWhitelist: readonly { readonly kind: string }[]
    readonly roles: readonly { readonly policies: readonly string[] }[]
  }
  const applications = manifests.filter(({ manifest }) => manifest.kind === 'Application').map(({ manifest }) => manifest)

  it('allows every Application, with its source and its destination', () => {
    for (const { spec } of applications) {
      const { project: name, destination, source, sources = [source] } = spec as unknown as ApplicationSpec
      expect(name).toBe(project.metadata.name)
      expect(destinations).toContainEqual(destination)
      expect(sources.filter((one) => !sourceRepos.includes(one?.repoURL ?? ''))).toEqual([])
    }
  })

  it('allows the cluster-scoped objects of the chart, and the others in their namespaces', () => {
    const rendered = globSync('test/chart/golden/*.yaml').flatMap((path) =>
      parseAllDocuments(readFileSync(path, 'utf8')).map((document) => document.toJS() as Manifest),
    )
    const ofCluster = rendered.filter(({ metadata }) => metadata.namespace === undefined).map(({ kind }) => kind)
    const allowed = clusterResourceWhitelist.map(({ kind }) => kind)
    expect(ofCluster.filter((kind) => !allowed.includes(kind))).toEqual([])
    expect(allowed.filter((kind) => !['Namespace', 'CustomResourceDefinition'].includes(kind) && !ofCluster.includes(kind))).toEqual([])
    expect(destinations.map(({ namespace }) => namespace)).toEqual(expect.arrayContaining(['tranche-system', 'kube-system']))
  })

  it('grants permissions only for existing actions', () => {
    const names = roles
      .flatMap(({ policies }) => policies)
      .flatMap((line) => /action\/rollouts\.kruise\.io\/Rollout\/(\S+),/.exec(line)?.[1] ?? [])
    expect(names.length).toBeGreaterThan(1)
    expect(names.filter((name) => ![...actionNames, '*'].includes(name))).toEqual([])
  })
})

/** Problems for which the API server would reject the manifest, or silently drop a field. */
function problemsOf(manifest: Manifest): readonly string[] {
  const library = manifest.apiVersion.startsWith('argoproj.io/') ? 'argo-cd' : 'flux-cd'
  const unknown = unknownFields(manifest, `@kubernetes-models/${library}`)
  const problems = unknown.map((path) => `${path} is no field`)
  try {
    new models[manifest.kind]!(manifest as never).validate()
    return problems
  } catch (error) {
    return [...problems, (error as Error).message]
  }
}
