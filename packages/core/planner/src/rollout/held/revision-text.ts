import type { ControllerRevision, PodTemplate } from '@tranche/kube-types'
import { hashOf, templateOf } from '../../release/view/discover-revisions.ts'

/** @returns a revision for people: `59c84f48cd (node-agent:v1)`; the hash alone where the history has lost it */
export function revisionText(revisions: readonly ControllerRevision[], hash: string): string {
  const images = imagesText(revisions.find((revision) => hashOf(revision) === hash))
  return images === '' ? hash : `${hash} (${images})`
}

/** A template may name an image of any length. A message with it must fit into a status several times, or the status write fails. */
const LONGEST_IMAGES = 256

/** @returns the images of a revision without their registries, containers in order, cut to 256 characters; empty where it holds none */
export function imagesText(revision: ControllerRevision | undefined): string {
  const template = revision === undefined ? undefined : (templateOf(revision) as PodTemplate | undefined)
  const images = (template?.spec?.containers ?? []).flatMap(({ image }) => image ?? [])
  const text = images.map((image) => image.slice(image.lastIndexOf('/') + 1)).join(', ')
  return text.length <= LONGEST_IMAGES ? text : `${text.slice(0, LONGEST_IMAGES)}…`
}
