import { readdirSync, readFileSync } from 'node:fs'
import { customResourceDefinitions, policyDurations, policyNumbers, policySizes, type StructuralSchema } from '@tranche/api-schema'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

const folder = `${import.meta.dirname}/../crds`

describe('the files in crds/', () => {
  it('are the definitions, one file each', () => {
    expect(readdirSync(folder).sort()).toEqual(customResourceDefinitions.map((crd) => `${crd.metadata.name}.yaml`).sort())
  })

  it.each(customResourceDefinitions)('$metadata.name equals its source', (crd) => {
    expect(parse(readFileSync(`${folder}/${crd.metadata.name}.yaml`, 'utf8'))).toEqual(JSON.parse(JSON.stringify(crd)))
  })
})

describe('kubectl explain', () => {
  it.each(customResourceDefinitions)('has a description for every field of $metadata.name', (crd) => {
    // The API server describes metadata.
    expect(undescribed(crd.spec.versions[0]!.schema.openAPIV3Schema)).toEqual(['.metadata'])
  })
})

/** Paths of the fields without a description. */
function undescribed(schema: StructuralSchema, path = ''): readonly string[] {
  const members = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => [
    ...(field.description === undefined ? [`${path}.${name}`] : []),
    ...undescribed(field, `${path}.${name}`),
  ])
  return schema.items === undefined ? members : [...members, ...undescribed(schema.items, `${path}[]`)]
}

describe.each(customResourceDefinitions)('$metadata.name', (crd) => {
  const { kind } = crd.spec.names
  const nodes = nodesOf(crd.spec.versions[0]!.schema.openAPIV3Schema)

  it('has one version, served and stored, with a status subresource', () => {
    expect(crd.spec.versions).toHaveLength(1)
    expect(crd.spec.versions[0]).toMatchObject({ served: true, storage: true, subresources: { status: {} } })
  })

  it('requires a spec, and leaves the status to the controllers', () => {
    expect(crd.spec.versions[0]!.schema.openAPIV3Schema.required).toEqual(['spec'])
  })

  it('gives every node a type, or marks it as int-or-string', () => {
    const untyped = nodes.filter(({ schema }) => schema.type === undefined && schema['x-kubernetes-int-or-string'] !== true)
    expect(pathsOf(untyped)).toEqual([])
  })

  it('uses only the one structural form of a union', () => {
    const unions = nodes.filter(({ schema }) => schema.anyOf !== undefined)
    expect(unions.length).toBeGreaterThan(0)
    for (const { schema } of unions) expect(schema.anyOf).toEqual([{ type: 'integer' }, { type: 'string' }])
    expect(unions.every(({ schema }) => schema['x-kubernetes-int-or-string'] === true && schema.type === undefined)).toBe(true)
  })

  it('uses no keyword that a structural schema rejects', () => {
    const allowed =
      /^(type|description|format|default|enum|minimum|maximum|maxItems|maxProperties|maxLength|pattern|required|properties|additionalProperties|items|anyOf|x-kubernetes-(int-or-string|preserve-unknown-fields|list-type|list-map-keys|validations))$/
    const refused = nodes.filter(({ schema }) => Object.keys(schema).some((keyword) => !allowed.test(keyword)))
    expect(pathsOf(refused)).toEqual([])
  })

  it('has items for every list, and no object that is both a map and a structure', () => {
    const listsWithoutItems = nodes.filter(({ schema }) => schema.type === 'array' && schema.items === undefined)
    const both = nodes.filter(({ schema }) => schema.properties !== undefined && schema.additionalProperties !== undefined)
    expect(pathsOf([...listsWithoutItems, ...both])).toEqual([])
  })

  it('requires only members that it defines', () => {
    const dangling = nodes.filter(({ schema }) => schema.required?.some((name) => schema.properties?.[name] === undefined))
    expect(pathsOf(dangling)).toEqual([])
  })

  it('requires every merge key of a list', () => {
    const keyed = nodes.filter(({ schema }) => schema['x-kubernetes-list-type'] === 'map')
    const loose = keyed.filter(({ schema }) => schema['x-kubernetes-list-map-keys']!.some((key) => !schema.items?.required?.includes(key)))
    expect(pathsOf(loose)).toEqual([])
  })

  it('has no default for a required member', () => {
    const both = nodes.filter(({ schema }) => schema.required?.some((name) => schema.properties?.[name]?.default !== undefined))
    expect(pathsOf(both)).toEqual([])
  })

  it('accepts any value in status fields that other controllers write', () => {
    const isBounded = (path: string): boolean => path.startsWith('.status.flight') || (kind === 'ReleasePolicy' && path.startsWith('.spec'))
    const closed = nodes.filter(({ path, schema }) => schema.enum !== undefined && !isBounded(path))
    expect(pathsOf(closed)).toEqual([])
  })

  it('shows columns whose paths exist', () => {
    const paths = new Set(nodes.map(({ path }) => path))
    const columns = crd.spec.versions[0]!.additionalPrinterColumns.map((column) => column.jsonPath.replace(/\[\?.*?\]/, '[]'))
    expect(columns.filter((path) => !path.startsWith('.metadata.') && !paths.has(path))).toEqual([])
  })
})

describe('the schema of a Rollout', () => {
  const nodes = nodesOf(customResourceDefinitions[0]!.spec.versions[0]!.schema.openAPIV3Schema)
  const at = (path: string): StructuralSchema | undefined => nodes.find((node) => node.path === path)?.schema

  it('accepts a step size as a number or a percentage', () => {
    expect(at('.spec.strategy.canary.steps[].replicas')).toMatchObject({ 'x-kubernetes-int-or-string': true })
  })

  it('accepts at most 50 steps', () => {
    expect(at('.spec.strategy.canary.steps')).toMatchObject({ type: 'array', maxItems: 50 })
  })

  it('defaults to enabled', () => {
    expect(at('.spec.disabled')).toMatchObject({ type: 'boolean', default: false })
  })

  it('requires the status fields that health checks read', () => {
    expect(at('.status')?.required).toEqual(['currentStepIndex', 'currentStepState'])
    expect(at('.status.canaryStatus')?.required).toEqual(
      expect.arrayContaining([
        'podTemplateHash',
        'currentStepState',
        'nextStepIndex',
        'finalisingStep',
        'canaryRevision',
        'canaryReplicas',
      ]),
    )
  })

  it.each([
    '.spec.strategy.canary.trafficRoutings[]',
    '.spec.strategy.canary.steps[].matches[]',
    '.spec.strategy.blueGreen.trafficRoutings[]',
  ])('prunes no field of %s', (path) => {
    expect(at(path)).toMatchObject({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true })
  })

  it('bounds whole numbers by their format, and not by the range of a double', () => {
    expect(nodes.filter(({ schema }) => Math.abs(schema.maximum ?? 0) > 2 ** 31 || Math.abs(schema.minimum ?? 0) > 2 ** 31)).toEqual([])
    expect(pathsOf(nodes.filter(({ schema }) => schema.type === 'integer' && schema.format === undefined))).toEqual([])
  })
})

describe('the schema of a ReleasePolicy', () => {
  const nodes = nodesOf(customResourceDefinitions[2]!.spec.versions[0]!.schema.openAPIV3Schema)
  const inSpec = nodes.filter(({ path }) => path.startsWith('.spec'))

  it('bounds each whole number, and each number of nodes', () => {
    const numbers = inSpec.filter(({ schema }) => schema.type === 'integer')
    const sizes = inSpec.filter(({ schema }) => schema['x-kubernetes-int-or-string'] === true)
    expect(numbers.length + sizes.length).toBeGreaterThan(10)
    expect(pathsOf(numbers.filter(({ schema }) => schema.minimum === undefined || schema.maximum === undefined))).toEqual([])
    expect(pathsOf(sizes.filter(({ schema }) => schema['x-kubernetes-validations'] === undefined))).toEqual([])
  })

  it('has a range for no field that it lacks', () => {
    const paths = Object.keys({ ...policyDurations, ...policyNumbers, ...policySizes })
    expect(paths.filter((path) => !inSpec.some((node) => node.path === `.${path}`))).toEqual([])
  })

  it('bounds nothing in the status, which controllers of other versions write too', () => {
    const bounded = nodes.filter(
      ({ path, schema }) => path.startsWith('.status') && (schema.enum ?? schema.minimum ?? schema.maxLength) !== undefined,
    )
    expect(pathsOf(bounded)).toEqual([])
  })
})

it('a BatchRelease accepts every value of a policy of another version, up to the maximum size: its record must stay writable', () => {
  const nodes = nodesOf(customResourceDefinitions[1]!.spec.versions[0]!.schema.openAPIV3Schema)
  const bounded = nodes.filter(
    ({ path, schema }) =>
      /^\.spec\.tranche\.(nodes|maxUnavailable|drain|failure|analysis|downtime|prePull)/.test(path) &&
      (schema.enum ?? schema.minimum ?? schema.maximum ?? schema['x-kubernetes-validations']) !== undefined,
  )
  expect(pathsOf(bounded)).toEqual([])
})

interface Located {
  readonly path: string
  readonly schema: StructuralSchema
}

function nodesOf(schema: StructuralSchema, path = ''): Located[] {
  const members = Object.entries(schema.properties ?? {}).flatMap(([name, child]) => nodesOf(child, `${path}.${name}`))
  const items = schema.items === undefined ? [] : nodesOf(schema.items, `${path}[]`)
  const values = schema.additionalProperties === undefined ? [] : nodesOf(schema.additionalProperties, `${path}{}`)
  return [{ path, schema }, ...members, ...items, ...values]
}

function pathsOf(located: readonly Located[]): string[] {
  return located.map(({ path }) => path)
}
