export { type HelperManifest, helperManifest, pulledImages, type PulledImage } from './helper-manifest.ts'
export { type PullProgress, pullProgress } from './pull-progress.ts'
export { type HelperPod, type PullState, toHelperPod } from './helper-pod.ts'
