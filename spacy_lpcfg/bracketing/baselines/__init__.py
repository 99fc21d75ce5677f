"""What a bracketer is measured against: branching, random trees, CCM, and the best binary trees."""
