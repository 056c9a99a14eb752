// Builds both images for two platforms: `docker buildx bake`. The release sets the variables.

variable "IMAGE" {
  default = "webhook-notification-service"
}

variable "VERSION" {
  default = "dev"
}

// The commit, its time (RFC 3339), and the address of its repository.
variable "REVISION" {
  default = null
}

variable "CREATED" {
  default = null
}

variable "SOURCE" {
  default = null
}

group "default" {
  targets = ["server", "all-in-one"]
}

target "image" {
  platforms = ["linux/amd64", "linux/arm64"]
  attest    = ["type=provenance,mode=max", "type=sbom"]
  labels = {
    "org.opencontainers.image.title"       = "webhook-notification-service"
    "org.opencontainers.image.description" = "Register callback URLs, publish events, and every subscriber gets a signed HTTP POST."
    "org.opencontainers.image.licenses"    = "MIT"
    "org.opencontainers.image.version"     = VERSION
    "org.opencontainers.image.revision"    = REVISION
    "org.opencontainers.image.created"     = CREATED
    "org.opencontainers.image.source"      = SOURCE
  }
}

target "server" {
  inherits = ["image"]
  target   = "server"
  tags     = ["${IMAGE}:${VERSION}"]
}

target "all-in-one" {
  inherits = ["image"]
  target   = "all-in-one"
  tags     = ["${IMAGE}:${VERSION}-all-in-one"]
}
