import type { ControllerRevision, PodTemplate } from '@tranche/kube-types'
import { hashOf, templateOf } from '../release/discover-revisions.ts'

/** @returns a revision as people know it: `59c84f48cd (node-agent:v1)`; the hash alone where it is no longer in the history */
export function revisionText(revisions: readonly ControllerRevision[], hash: string): string {
  const images = imagesText(revisions.find((revision) => hashOf(revision) === hash))
  return images === '' ? hash : `${hash} (${images})`
}

/** @returns the images of a revision without their registries, containers in order; empty where it holds none */
export function imagesText(revision: ControllerRevision | undefined): string {
  const template = revision === undefined ? undefined : (templateOf(revision) as PodTemplate | undefined)
  const images = (template?.spec?.containers ?? []).flatMap(({ image }) => image ?? [])
  return images.map((image) => image.slice(image.lastIndexOf('/') + 1)).join(', ')
}
