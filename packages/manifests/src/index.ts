export { type ManifestDocument, readManifests } from './read-manifests.ts'
