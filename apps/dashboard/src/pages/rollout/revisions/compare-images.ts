import type { RevisionReport } from '@tranche/api-schema'

/** A pod template, as the API returns it. */
export type Template = Readonly<Record<string, unknown>>

/** The image of one container in two templates. */
export interface ContainerChange {
  /** Name of the container; absent if only the images are known. */
  readonly container?: string
  /** Absent for a container that only the newer template has. */
  readonly from?: string
  /** Absent for a container that only the older template has. */
  readonly to?: string
}

/** @returns containers whose image differs, init containers first, in the order of the newer template; removed ones last */
export function compareContainers(from: Template, to: Template): readonly ContainerChange[] {
  const before = containersOf(from)
  const after = containersOf(to)
  const names = new Set([...after.keys(), ...before.keys()])
  return [...names]
    .filter((name) => before.get(name) !== after.get(name))
    .map((container) => changeOf(before.get(container), after.get(container), container))
}

/** The same without templates: compares the images by their place in the pod. */
export function compareImages(from: Pick<RevisionReport, 'images'>, to: Pick<RevisionReport, 'images'>): readonly ContainerChange[] {
  const length = Math.max(from.images.length, to.images.length)
  return Array.from({ length }, (_, at) => changeOf(from.images[at], to.images[at])).filter((change) => change.from !== change.to)
}

function changeOf(from: string | undefined, to: string | undefined, container?: string): ContainerChange {
  return { ...(container !== undefined && { container }), ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
}

/** Images by container: those of a pod have distinct names. */
function containersOf({ spec }: Template): ReadonlyMap<string, string> {
  const { initContainers, containers } = (spec ?? {}) as Readonly<Record<string, unknown>>
  const all = [initContainers, containers].flatMap((list) => (Array.isArray(list) ? (list as readonly unknown[]) : []))
  return new Map(all.map((one) => one as Readonly<Record<string, unknown>>).map(({ name, image }) => [String(name), String(image ?? '')]))
}
