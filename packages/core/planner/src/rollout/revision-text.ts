import type { ControllerRevision, PodTemplate } from '@tranche/kube-types'
import { hashOf, templateOf } from '../release/discover-revisions.ts'

/** @returns a revision as people know it: `59c84f48cd (node-agent:v1)`; the hash alone where it is no longer in the history */
export function revisionText(revisions: readonly ControllerRevision[], hash: string): string {
  const images = imagesText(revisions.find((revision) => hashOf(revision) === hash))
  return images === '' ? hash : `${hash} (${images})`
}

/** A template may say any text for an image. A message that holds it must fit into a status several times, or nothing is written any more. */
const LONGEST_IMAGES = 256

/** @returns the images of a revision without their registries, containers in order, cut to 256 characters; empty where it holds none */
export function imagesText(revision: ControllerRevision | undefined): string {
  const template = revision === undefined ? undefined : (templateOf(revision) as PodTemplate | undefined)
  const images = (template?.spec?.containers ?? []).flatMap(({ image }) => image ?? [])
  const text = images.map((image) => image.slice(image.lastIndexOf('/') + 1)).join(', ')
  return text.length <= LONGEST_IMAGES ? text : `${text.slice(0, LONGEST_IMAGES)}…`
}
