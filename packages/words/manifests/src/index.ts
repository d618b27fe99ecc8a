export { boundFault, type Fault } from './bounded-document.ts'
export { type ManifestDocument, readManifests } from './read-manifests.ts'
