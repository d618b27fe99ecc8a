export {
  type Certificate,
  type CertificateAge,
  certificatesIn,
  EXPIRES_SOON_MS,
  goodUntilMs,
  sayAge,
  type Trust,
  whyDistrusted,
  whyUnusable,
} from './certificate.ts'
export {
  type CertificateFiles,
  type CertificateOwner,
  followCertificate,
  type FollowingParts,
  readCertificate,
} from './certificate-files.ts'
export { type CertificateOrder, issueCertificate, type IssuedCertificate } from './issued.ts'
export {
  type KeptCertificates,
  LASTS_MS,
  planRotation,
  RENEWED_BEFORE_MS,
  rotated,
  type RotationPlan,
  type RotationView,
  TRUSTED_FOR_MS,
} from './plan-rotation.ts'
