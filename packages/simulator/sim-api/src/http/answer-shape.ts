import type { ApiObject } from '../model/client.ts'
import type { ApiList, WatchFrame } from '../model/request.ts'
import type { ResourceDefinition } from '../model/resource-definition.ts'
import type { Representation } from './wire/negotiate.ts'
import { itemText, objectText } from './wire/object-text.ts'
import { columnsOf, type IncludeObject, partialMetadata, toTable } from './tables/table.ts'
import { withManagedFields } from '../ownership/owners.ts'

/** Formats the results of one request in the shape that the client requested. All texts are JSON. */
export interface AnswerShape {
  object(object: ApiObject): string
  list(list: ApiList): string
  /** Line of a watch. Must be called for every frame in order: only the first carries the column definitions of a Table. */
  frame(frame: WatchFrame): string
}

/** Responses that carry `metadata.managedFields`: all, those to a GET of one object, or none. */
export type ManagedFieldsIn = 'everything' | 'single reads' | 'nothing'

/** Inputs of the response shape. */
export interface ShapeOptions {
  readonly definition: ResourceDefinition
  readonly version: string
  readonly include: IncludeObject
  readonly managedFields: ManagedFieldsIn
  /** Wall time for ages, in epoch milliseconds. */
  readonly nowMs: () => number
}

/** @returns the shape that the client negotiated */
export function createAnswerShape(representation: Representation, options: ShapeOptions): AnswerShape {
  switch (representation) {
    case 'full':
      return fullShape(options)
    case 'table':
      return tableShape(options)
    case 'metadata':
      return metadataShape
  }
}

/** Items of built-in lists omit `kind` and `apiVersion`, items of custom ones have them, as in Kubernetes. */
function fullShape({ definition, managedFields }: ShapeOptions): AnswerShape {
  const ownersToo = managedFields === 'everything'
  const toItem = (object: ApiObject): string =>
    definition.customResourceDefinition === undefined ? itemText(object, ownersToo) : objectText(object, ownersToo)
  return {
    object: (object) => objectText(object, managedFields !== 'nothing'),
    list: ({ kind, apiVersion, metadata, items }) =>
      `${JSON.stringify({ kind, apiVersion, metadata }).slice(0, -1)},"items":[${items.map(toItem).join(',')}]}`,
    frame: ({ type, object }) => frameLine(type, type === 'ERROR' ? JSON.stringify(object) : objectText(object as ApiObject, ownersToo)),
  }
}

function tableShape({ definition, version, include, nowMs }: ShapeOptions): AnswerShape {
  const columns = columnsOf(definition, version)
  let withColumns = true
  const table = (objects: readonly ApiObject[], metadata: object): string =>
    JSON.stringify(toTable(objects, columns, { metadata, nowMs: nowMs(), include, withColumns }))
  return {
    object: (object) => table([object], { resourceVersion: object.metadata.resourceVersion }),
    list: ({ metadata, items }) => table(items, metadata),
    frame(frame) {
      if (frame.type === 'ERROR') return frameLine(frame.type, JSON.stringify(frame.object))
      const object = frame.object as ApiObject // a bookmark has what a row needs, and annotations that must not be lost
      const line = frameLine(frame.type, table([object], { resourceVersion: object.metadata.resourceVersion }))
      withColumns = false
      return line
    },
  }
}

const metadataShape: AnswerShape = {
  object: (object) => JSON.stringify(partialMetadata(object)),
  list: ({ metadata, items }) =>
    JSON.stringify({ kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1', metadata, items: items.map(partialMetadata) }),
  frame({ type, object }) {
    if (type === 'ERROR') return frameLine(type, JSON.stringify(object))
    return frameLine(
      type,
      JSON.stringify({
        kind: 'PartialObjectMetadata',
        apiVersion: 'meta.k8s.io/v1',
        metadata: type === 'BOOKMARK' ? object.metadata : withManagedFields(object).metadata,
      }),
    )
  },
}

function frameLine(type: string, object: string): string {
  return `{"type":"${type}","object":${object}}\n`
}
