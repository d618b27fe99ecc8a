import type { Api } from '../fixtures/api.ts'
import { valueAt } from '../fixtures/body.ts'
import type { ConformanceTest } from '../fixtures/fixtures.ts'
import { pathOf } from '../fixtures/paths.ts'

/** Fields of a widget's `spec`. */
export const specSchema = {
  type: 'object',
  properties: {
    size: { type: 'integer', minimum: 1, default: 3 },
    mode: { type: 'string', enum: ['a', 'b'] },
    small: { type: 'integer', format: 'int32' },
    large: { type: 'integer', format: 'int64' },
    low: { type: 'integer' },
    high: { type: 'integer' },
    fixed: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'is fixed' }] },
    parts: {
      type: 'array',
      items: { type: 'object', required: ['name'], properties: { name: { type: 'string' }, weight: { type: 'integer', default: 1 } } },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    },
    percent: { 'x-kubernetes-int-or-string': true },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    when: { type: 'string', format: 'date-time' },
    short: { type: 'string', maxLength: 5, pattern: '^[a-z]*$' },
    replicas: { type: 'integer' },
  },
  'x-kubernetes-validations': [
    {
      rule: '!has(self.low) || !has(self.high) || self.low <= self.high',
      message: 'low is above high',
      fieldPath: '.low',
      reason: 'FieldValueForbidden',
    },
  ],
}

const statusSchema = { type: 'object', properties: { ready: { type: 'integer' }, replicas: { type: 'integer' } } }

/** A resource of the test's own. */
export interface Widgets {
  /** Of the CustomResourceDefinition: `conformance.tranche.dev` begins with the run. */
  readonly group: string
  path(name?: string, subresource?: string): string
}

/** A test that has widgets of its own, which go with it. */
export function withWidgets(base: ConformanceTest) {
  return base.extend('widgets', async ({ api, namespace, uniqueName }, { onCleanup }): Promise<Widgets> => {
    const group = `${uniqueName}.conformance.tranche.dev`
    await establish(api, definitionOf(group))
    onCleanup(async () => void (await api.delete(pathOf.customResourceDefinitions(`widgets.${group}`))))
    return {
      group,
      path: (name, subresource) =>
        [`/apis/${group}/v1/namespaces/${namespace}/widgets`, name, subresource].filter((word) => word !== undefined).join('/'),
    }
  })
}

/** @returns a widget as it is sent, without its type */
export const widget = (spec: object = {}, metadata: object = {}): object => ({ metadata: { name: 'a', ...metadata }, spec })
/** @returns the object with the type of these widgets */
export const typed = ({ group }: Widgets, object: object): object => ({ apiVersion: `${group}/v1`, kind: 'Widget', ...object })

async function establish(api: Api, definition: Definition): Promise<void> {
  await api.create(pathOf.customResourceDefinitions(), definition)
  await api.until(pathOf.customResourceDefinitions(), definition.metadata.name, 'the established definition', (object) => {
    const conditions = (valueAt(object, 'status.conditions') ?? []) as readonly { readonly type: string; readonly status: string }[]
    return conditions.some(({ type, status }) => type === 'Established' && status === 'True')
  })
}

interface Definition {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: { readonly versions: readonly object[]; readonly [field: string]: unknown }
}

/** @returns the definition of widgets */
export function definitionOf(group: string): Definition {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind: 'Widget', plural: 'widgets', singular: 'widget', shortNames: ['wi'] },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: specSchema, status: statusSchema } } },
          subresources: { status: {}, scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
          selectableFields: [{ jsonPath: '.spec.mode' }],
          additionalPrinterColumns: [
            { name: 'Mode', type: 'string', jsonPath: '.spec.mode' },
            { name: 'Size', type: 'integer', jsonPath: '.spec.size', priority: 1 },
            { name: 'Ready', type: 'integer', jsonPath: '.status.ready' },
          ],
        },
      ],
    },
  }
}
