import { parseAllDocuments } from 'yaml'
import { describe, expect, it } from 'vitest'
import { programs, renderText, type Values } from './chart.ts'

/** Texts that YAML 1.1, which Kubernetes reads, takes for something else where they are not quoted. */
const oddTexts = ['null', 'no', 'true', '123', '1e3']

/** Values that name objects, by the odd name. */
const namings: Readonly<Record<string, (name: string) => Values>> = {
  'namespaces of the scope': (name) => ({ scope: { namespaces: [name] } }),
  'the namespace of the Lease': (name) => ({ leaseNamespace: name }),
  'service accounts': (name) => ({ allInOne: { serviceAccount: { create: true, name } } }),
  'the name of all objects': (name) => ({ fullnameOverride: /^[a-z]/.test(name) ? name : 'on' }),
  'namespaces of drains and locks': (name) => ({
    rbac: {
      groups: true,
      sharedGroupNamespaces: [name],
      drain: { namespaces: [name] },
      nodeLocks: { namespaces: [name], leaseNamespace: name },
    },
  }),
  'Secrets of policies': (name) => ({ rbac: { policySecrets: [{ namespace: name, names: [name] }] } }),
  'the certificate of the API': (name) => ({ api: { tls: { secret: name } } }),
  'classes of pods': (name) => ({ allInOne: { priorityClassName: name }, pods: { runtimeClassName: name } }),
  'certificates of the network': (name) => ({ trustedCAs: { configMap: name } }),
}

/** Keys whose values are texts in every object. */
const textKeys = /^(name|namespace|secretName|serviceAccountName|priorityClassName|runtimeClassName|key|path)$/

describe.skipIf(programs === null)('a text that YAML reads as something else', () => {
  it.each(Object.entries(namings))('stays a text where it names %s', async (_what, valuesOf) => {
    for (const name of oddTexts) {
      const objects = await objectsOf(valuesOf(name))
      expect(objects.flatMap((object) => noTexts(object, ''))).toEqual([])
    }
  })

  it('binds a Role in the namespace that is called null, not in that of the installation', async () => {
    const objects = await objectsOf({ scope: { namespaces: ['null'] } })
    const bindings = objects.filter(({ kind, metadata }) => kind === 'RoleBinding' && metadata.name.endsWith('-scope'))
    const ofPrograms = bindings.filter(({ metadata }) => !metadata.name.startsWith('tranche-test-'))
    expect(ofPrograms.map(({ metadata }) => metadata.namespace)).toEqual(ofPrograms.map(() => 'null'))
    expect(ofPrograms).not.toEqual([])
  })

  it.each(['oidc:', 'corp #', '# all', 'a: b', '"', "'", '\\', '{{ x }}', '@', '*', '&a', 'x - --log-level=debug'])(
    'is one argument of the login: %j',
    async (text) => {
      const login = { ...issuer, usernamePrefix: text, groupsClaim: text, groupsPrefix: text }
      const [deployment] = (await objectsOf({ api: { audiences: [text], login } })).filter(({ kind }) => kind === 'Deployment')
      const { args } = (deployment!.spec as PodOwner).template.spec.containers[0]!
      const options = ['--audience', '--oidc-username-prefix', '--oidc-groups-claim', '--oidc-groups-prefix']
      expect(args).toEqual(expect.arrayContaining(options.map((option) => `${option}=${text}`)))
      expect(args.filter((arg) => arg.startsWith('--log-level'))).toHaveLength(1)
    },
  )
})

const issuer = {
  issuer: 'https://id.example.com',
  clientId: 'tranche',
  externalUrl: 'https://tranche.example.com',
  secret: { name: 'login', sessionKeyKey: 'key' },
}

interface PodOwner {
  readonly template: { readonly spec: { readonly containers: readonly { readonly args: readonly string[] }[] } }
}

interface Parsed {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly spec?: unknown
}

async function objectsOf(values: Values): Promise<readonly Parsed[]> {
  const documents = parseAllDocuments(await renderText(values), { version: '1.1' })
  return documents.flatMap((document) => {
    const object = document.toJS() as Parsed | null
    return object === null || object.kind === 'CustomResourceDefinition' ? [] : [object]
  })
}

/** @returns paths of values that should be texts and are not */
function noTexts(value: unknown, path: string): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((one, at) => noTexts(one, `${path}[${at}]`))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, one]) => {
    const isText = typeof one === 'string' || typeof one === 'object'
    const isWrong = textKeys.test(key)
      ? one === null || !isText
      : key === 'args' && Array.isArray(one) && one.some((arg) => typeof arg !== 'string')
    return isWrong ? [`${path}.${key}`] : noTexts(one, `${path}.${key}`)
  })
}
